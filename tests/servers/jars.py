"""`python -m tests.servers.jars LOCK FOLDER`: fetches the jars of a lock by Maven, checks them and lays them out."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1"
PROJECT = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>bobusang</groupId><artifactId>jars</artifactId>"
    "<version>1</version><dependencies>{}</dependencies></project>"
)
DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>"
    "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)
DONE = ".unpacked"


class Jar(NamedTuple):
    """A line of the lock."""

    folder: str
    coordinates: str
    digest: str

    @property
    def file(self) -> str:
        _, artifact, version = self.coordinates.split(":")
        return f"{artifact}-{version}.jar"


def locked(lock: Path) -> list[Jar]:
    lines = lock.read_text("utf-8").splitlines()
    return [Jar(*line.split()) for line in lines if not line.startswith("#")]


def fetch(jars: list[Jar], folder: Path) -> None:
    """What is wrong leaves nothing behind: the folder is there whole, or not at all."""
    maven = shutil.which("mvn")
    if maven is None:
        raise SystemExit("Maven is needed: install `mvn`")
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        project, home = Path(made), Path(made) / "home"
        dependencies = "".join(DEPENDENCY.format(*jar.coordinates.split(":")) for jar in jars)
        (project / "pom.xml").write_text(PROJECT.format(dependencies))
        subprocess.run(
            [maven, "-q", "-B", f"{PLUGIN}:copy-dependencies", "-DoutputDirectory=jars"], cwd=project, check=True
        )
        for jar in jars:
            (home / jar.folder).mkdir(parents=True, exist_ok=True)
            shutil.copyfile(checked(project / "jars" / jar.file, jar.digest), home / jar.folder / jar.file)
        (home / DONE).touch()
        shutil.rmtree(folder, ignore_errors=True)
        home.rename(folder)


def checked(path: Path, digest: str) -> Path:
    if (found := sha256(path.read_bytes()).hexdigest()) != digest:
        raise SystemExit(f"{path.name} has the sha256 {found}, not {digest}")
    return path


if __name__ == "__main__":
    fetch(locked(Path(sys.argv[1])), Path(sys.argv[2]))
