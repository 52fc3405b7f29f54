"""Settings, read once at the door: the environment first, then `bobusang.toml`, then the defaults here."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit, urlunsplit

import msgspec
from msgspec import Meta

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "BOBUSANG_"
FILE = "bobusang.toml"
APART = {"URL", "TOKEN", "CONFIG", "LANG"}
"""Variables of the command line rather than of the program."""

AGENT = "Mozilla/5.0 (compatible; Bobusang; +set BOBUSANG_USER_AGENT)"
SECRETS = ("slack_webhook_url", "smtp_url", "model_key")

Port = Annotated[int, Meta(ge=0, le=65535)]
Seconds = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=1)]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that can be set. The names are also `BOBUSANG_<NAME>`."""

    home: Annotated[str, Meta(description="folder for the embedded database, keys and files")] = "bobusang-data"
    database_url: Annotated[str, Meta(description="sqlite:///…, postgresql://… or mariadb://…; empty: embedded")] = ""
    database_pool: Annotated[int, Meta(ge=2, le=100, description="connections a process may open")] = 5
    host: Annotated[str, Meta(description="address the API listens on")] = "127.0.0.1"
    port: Annotated[Port, Meta(description="port the API listens on; 0 picks a free one")] = 8000
    api_rate: Annotated[int, Meta(ge=0, description="calls a minute that one API key may make; 0: any number")] = 60_000
    cors_origins: Annotated[str, Meta(description="sites whose pages may call the API, by commas; empty: none")] = ""
    plain_cookies: Annotated[bool, Meta(description="sign in without `__Host-` cookies, over plain HTTP")] = False
    metrics_open: Annotated[bool, Meta(description="whether /metrics needs no API key")] = False
    log_level: Annotated[str, Meta(pattern="^(DEBUG|INFO|WARNING|ERROR)$", description="least level logged")] = "INFO"
    log_format: Annotated[str, Meta(pattern="^(auto|json|pretty)$", description="how logs look")] = "auto"
    one_core: Annotated[bool, Meta(description="keep each process to one core at a time (Linux)")] = True
    beat_seconds: Annotated[Seconds, Meta(description="how often a worker says that it lives")] = 5.0
    dead_seconds: Annotated[Seconds, Meta(description="silence after which a worker is taken for dead")] = 30.0
    drain_seconds: Annotated[float, Meta(ge=0, description="how long a stopping worker may go on")] = 30.0
    keep_days: Annotated[Count, Meta(description="days before a finished job is archived")] = 30
    payload_limit: Annotated[int, Meta(ge=1024, description="largest input or output, in characters")] = 1 << 20
    slack_webhook_url: Annotated[str, Meta(description="where alerts go, if anywhere (secret)")] = ""
    smtp_url: Annotated[str, Meta(description="smtp://user:pw@host:port?from=…&to=… for alerts by mail (secret)")] = ""
    alert_failure_rate: Annotated[Share, Meta(description="share of failed jobs in an hour that calls a person")] = 0.2
    alert_queue_depth: Annotated[Count, Meta(description="waiting tasks that call a person")] = 100_000
    alert_oldest_wait_seconds: Annotated[Seconds, Meta(description="a task's wait that calls a person")] = 1800.0
    alert_retry_rate: Annotated[float, Meta(gt=0, description="retries per task in an hour that call a person")] = 0.5
    alert_dead_letters: Annotated[Count, Meta(description="dead letters of a class that call a person")] = 100
    subscribers_allow_private: Annotated[bool, Meta(description="may subscribers be on private addresses")] = False
    blob_url: Annotated[
        str, Meta(description="where raw pages and pictures are kept: file:///…, s3://…; empty: in home")
    ] = ""
    limiter_url: Annotated[str, Meta(description="redis://… for limits shared by all workers; empty: one process")] = ""
    search_url: Annotated[str, Meta(description="opensearch://host:9200/prefix; empty: an index in home")] = ""
    cache_url: Annotated[str, Meta(description="redis://… for answers kept by all; empty: each process its own")] = ""
    cache_seconds: Annotated[float, Meta(gt=0, le=36_000, description="how long a search's answer is kept")] = 300.0
    user_agent: Annotated[str, Meta(min_length=1, max_length=300, description="who we say we are to a mall")] = AGENT
    silent_seconds: Annotated[Seconds, Meta(description="how long a run waits for a mall that is silent")] = 7200.0
    shops: Annotated[str, Meta(description="folder with declared shops of your own; empty: none")] = ""
    shops_trusted: Annotated[str, Meta(description="names of those shops whose own code may run, by commas")] = ""
    raw_keep_days: Annotated[Count, Meta(description="days a raw page is kept that no version refers to")] = 30
    sandbox_url: Annotated[str, Meta(description="a running `bobusang sandbox`; only it is called then")] = ""
    market_url: Annotated[str, Meta(description="where BUYMA's API is; empty: the real one, or the sandbox's")] = ""
    masters_url: Annotated[str, Meta(description="below which BUYMA's master lists lie as CSV files")] = ""
    public_url: Annotated[
        str,
        Meta(description="where markets fetch our pictures: …/media, a bucket's address; empty: /media of this API"),
    ] = ""
    model: Annotated[
        str, Meta(description="who translates: rules, or with bobusang[models] openai:NAME, anthropic:NAME")
    ] = "rules"
    model_key: Annotated[str, Meta(description="the key of that model (secret)")] = ""
    model_url: Annotated[str, Meta(description="another server that speaks OpenAI's language, such as …/v1")] = ""
    model_price: Annotated[str, Meta(description="what a million tokens cost, in and out, as 0.15/0.60")] = ""
    fx_url: Annotated[str, Meta(description="where rates of exchange are fetched every hour; empty: nowhere")] = ""
    fx_spread: Annotated[
        str, Meta(pattern=r"^0(\.\d+)?$", description="the share that the bank takes, where a table does not say")
    ] = "0.01"
    forbidden: Annotated[str, Meta(description="CSV file of words, brands and sources that may not be listed")] = ""
    unknown_color: Annotated[int, Meta(ge=0, description="BUYMA's colour for one its list lacks; 0: hold it")] = 0
    call_seconds: Annotated[Seconds, Meta(description="how long a call to a market may take")] = 30.0

    @property
    def database(self) -> str:
        """The database's address, the embedded one unless another is set."""
        return self.database_url or f"sqlite:///{Path(self.home) / 'bobusang.db'}"

    @property
    def is_embedded(self) -> bool:
        return self.database.startswith("sqlite:")

    def shown(self) -> dict[str, Any]:
        """All settings with secrets masked."""
        values = msgspec.to_builtins(self)
        for name in SECRETS:
            values[name] = "***" if values[name] else ""
        values["database_url"] = masked(self.database)
        for name in ("blob_url", "limiter_url", "search_url", "cache_url"):
            values[name] = masked(values[name])
        found: dict[str, Any] = values
        return found


def masked(url: str) -> str:
    """An address without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.hostname or ""
    port = f":{parts.port}" if parts.port else ""
    return urlunsplit(parts._replace(netloc=f"{parts.username}:***@{host}{port}"))


def load(environment: Mapping[str, str] | None = None, folder: Path | None = None, **given: Any) -> Settings:
    """Read the settings; a wrong one is named, with where it was found and what it should be."""
    values, origins = _gathered(environment, folder)
    for name, value in given.items():
        if value is not None:
            values[name] = value
            origins[name] = f"--{name.replace('_', '-')}"
    return _checked(values, origins)


def origins(environment: Mapping[str, str] | None = None, folder: Path | None = None) -> dict[str, str]:
    """Where each setting that is not a default stands: a variable's name, or a file's."""
    return _gathered(environment, folder)[1]


def _gathered(environment: Mapping[str, str] | None, folder: Path | None) -> tuple[dict[str, Any], dict[str, str]]:
    environment = os.environ if environment is None else environment
    values, origins = _from_file(environment, folder or Path.cwd())
    for variable, value in environment.items():
        name = variable.removeprefix(PREFIX)
        if variable.startswith(PREFIX) and name not in APART and not name.startswith("TEST_"):
            values[name.lower()] = value
            origins[name.lower()] = variable
    return values, origins


def _from_file(environment: Mapping[str, str], folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    named = environment.get(f"{PREFIX}CONFIG")
    path = Path(named) if named else folder / FILE
    if not path.exists():
        if named:
            raise Invalid(f"{PREFIX}CONFIG names {path}, which does not exist", field="config")
        return {}, {}
    try:
        values = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise Invalid(f"{path}: {error}", hint="mend the file", field="config") from error
    return values, {name: f"{path}: {name}" for name in values}


def _checked(values: dict[str, Any], origins: Mapping[str, str]) -> Settings:
    known = Settings.__struct_fields__
    for name in values:
        if name not in known:
            like = nearest(name, known)
            hint = f"did you mean {PREFIX}{like.upper()}?" if like else "`bobusang doctor` lists the settings"
            raise Invalid(f"{origins[name]} is not a setting", hint=hint, field=name)
    for name, value in values.items():
        try:
            msgspec.convert({name: value}, Settings, strict=False)
        except msgspec.ValidationError as error:
            what = str(error).split(" - at ")[0]
            raise Invalid(f"{origins[name]}: {what}", hint=_advice(name), field=name) from error
    settings = msgspec.convert(values, Settings, strict=False)
    if settings.dead_seconds < 3 * settings.beat_seconds:
        raise Invalid(
            f"{PREFIX}DEAD_SECONDS ({settings.dead_seconds:g}) is below three beats of {settings.beat_seconds:g} s",
            hint="a worker that misses one beat would be taken for dead",
            field="dead_seconds",
        )
    return settings


def _advice(name: str) -> str:
    field = next(field for field in msgspec.structs.fields(Settings) if field.name == name)
    return f"it is the {described(field)}; the default is {field.default!r}"


def described(field: msgspec.structs.FieldInfo) -> str:
    """What a setting is for."""
    metas = [meta for meta in getattr(field.type, "__metadata__", ()) if meta.description]
    return metas[-1].description if metas else field.name


PAGE = """# Settings

Read once at the start: the environment first, then `bobusang.toml` in the working folder (or the file that
`BOBUSANG_CONFIG` names) with the names in lower case and without the prefix, then these defaults. A wrong one is an
error that names it. `make docs` writes this page.

| setting | what it is | default |
|---|---|---|
{rows}

The command line also reads `BOBUSANG_URL` and `BOBUSANG_TOKEN`: with them it talks to that server instead of the
database.
"""


def reference() -> str:
    """All settings as a page of the docs."""
    return PAGE.format(
        rows="\n".join(
            f"| `{PREFIX}{field.name.upper()}` | {described(field)} | {_shown_default(field.default)} |"
            for field in msgspec.structs.fields(Settings)
        )
    )


def _shown_default(value: object) -> str:
    return f"`{value}`" if value not in ("", None) else ""


if __name__ == "__main__":
    sys.stdout.write(reference())
