"""The tour of docs/catalogue.md, typed into a real shell against a real server."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bobusang.entry.tables import Role
from tests.integration.api.serving import served

if TYPE_CHECKING:
    from tests.integration.api.door import Door

PAGE = Path(__file__).parents[3] / "docs" / "catalogue.md"


@pytest.mark.skipif(shutil.which("curl") is None and not os.environ.get("CI"), reason="there is no curl here")
async def test_every_line_of_the_tour_works(small: Door) -> None:
    (tour,) = re.findall(r"```sh\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    await small.app.consumers.install(small.app.engine.db)  # as `bobusang up` does: they feed the search index
    async with small.working(), served(small.api, small.keys[Role.ADMIN]) as client:
        environment = os.environ | {"API": str(client.base_url).rstrip("/"), "KEY": small.keys[Role.ADMIN]}
        shell = await asyncio.create_subprocess_exec(
            *("bash", "-e", "-c", tour),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await shell.communicate()
    told = output.decode()

    assert shell.returncode == 0, told
    assert told.count("refused\n") == 1
    assert '"code":"outdated"' in told
    assert re.search(r'{"line":1,"id":2,"result":"new"}\n{"line":2,"error":{"code":"invalid",.*"field":"price"', told)
    assert '"locked":["price"],' in told
    assert "okmall,4711,나이키 롱패딩" in told
    assert re.search(r'{"items":\[{"text":".*나이키.*","kind":"\w+","count":1}', told), told
    assert re.search(r"x-cache: \w+", told)
    assert len(re.findall(r'{"forgotten":\d+}', told)) == 2
