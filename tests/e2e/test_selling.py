"""A seller's first day by commands: account, lists, mapping, one run, and what came of it, over a real market."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import pytest

from bobusang.entry.cli import main
from bobusang.sandbox.reviewed import mapping
from tests.e2e.program import PATIENCE, Running, Up, up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.xdist_group("e2e-selling")

NIKE = "나이키(NIKE)"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """`bobusang up` beside a sandbox whose market tells it what became of each call."""
    folder = tmp_path_factory.mktemp("selling")
    (folder / "mapping.csv").write_text(mapping(), "utf-8")
    sandbox = Running("sandbox", "--port", "0", "--size", "60", "--json", cwd=folder)
    try:
        url = re.findall(r'"url": "([^"]+)"', sandbox.read_line())[0]
        with up(folder, BOBUSANG_SANDBOX_URL=url) as found:
            told = json.dumps({"webhook_url": f"{found.url}/webhooks/buyma/main"}).encode()
            with urlopen(Request(f"{url}/admin/market/account", told, method="POST"), timeout=PATIENCE) as answer:
                assert answer.status == 200
            yield found
    finally:
        sandbox.close()


@pytest.fixture
def call(program: Up, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a line with --json and read its document; the exit code must be what is said."""
    _alone(program, monkeypatch)

    def run(line: str, *more: str, code: int = 0) -> Any:
        capsys.readouterr()
        found = main([*line.split(), *more, "--json", "--quiet"])
        out, err = capsys.readouterr()
        assert (found, err) == (code, ""), out
        return json.loads(out)

    return run


def _alone(program: Up, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BOBUSANG_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BOBUSANG_URL", program.url)
    monkeypatch.setenv("BOBUSANG_TOKEN", program.token)
    monkeypatch.chdir(program.folder)


def test_a_first_day(call: Callable[..., Any]) -> None:
    for one in call("schedule list")["items"]:  # at the full hour a PARTIAL would run beside
        call("schedule pause", str(one["id"]))
    secrets = "--token-ref sandbox:token --secret-ref sandbox:secret"
    areas = "--buying-area 2002003000 --shipping-area 2002003000 --method 888 --duty included"
    call(f"account add main {areas} {secrets} --shop-name OKmall")
    assert call(f"account add main {areas} {secrets}", code=4)["error"]["code"] == "conflict"
    assert len(call("master fetch")["items"]) == 12
    assert call("mapping import mapping.csv")["malls"] == ["mustit", "okmall"]
    assert call("fx add JPY KRW 920 --per 100 --source bank")["held"] == 0
    assert call("category block --mall okmall --q 스니커즈 --yes")["changed"] == 1

    run = call("run full --mall okmall --wait --brand", NIKE)

    assert run["status"] == "COMPLETED"
    live = call("listing list --state live")["items"]
    assert live
    assert {one["account"] for one in live} == {"main"}
    assert {one["why"] for one in call("product held")["reasons"]} == {"category_blocked", "color_unmapped"}
    (held,) = call("product held --why category_blocked")["items"]
    assert f"okmall-{held['key']}" not in {one["sku"] for one in live}
    sku = live[0]["sku"]
    (receipt,) = call("listing receipt", sku)["items"]
    assert (receipt["kind"], receipt["state"], receipt["complete"]) == ("CREATE", "CONFIRMED", True)
    assert all(step["at"] for step in receipt["steps"])
    explained = call("price explain --market buyma --account main", sku)
    assert explained["price"] == live[0]["price"]
    assert [step["step"] for step in explained["steps"]][:2] == ["rate JPY/KRW", "purchase"]
    assert len(call("price history", sku)["items"]) == 1
    assert call("listing show", sku)["items"][0]["confirmed"]["price"] == live[0]["price"]
    used = call("account show main")["calls"]
    assert used == {"hour": len(live), "hour_limit": 5000, "day": len(live), "day_limit": 2500}
    (figures,) = call("listing freshness")["items"]
    assert (figures["listings"], figures["confirmed"]) == ({"LIVE": len(live)}, len(live))
    hooks = call("listing webhooks --state applied")["items"]
    assert len(hooks) == len(live)
    assert call(f"listing replay {hooks[0]['id']}")["state"] == "RECEIVED"
    assert call("listing webhooks --unknown")["items"] == call("listing holds")["items"] == []
    assert call("listing approve 1", code=3)["error"]["code"] == "missing"


def test_a_file_goes_out_and_comes_back(call: Callable[..., Any], program: Up) -> None:
    exported = call("mapping export --mall okmall out.csv")
    assert exported == {
        "file": "out.csv",
        "rows": len((program.folder / "out.csv").read_text("utf-8").splitlines()) - 1,
    }
    assert call("mapping import out.csv")["lines"] == exported["rows"]
    fees = call("rate export fees fees.csv")["rows"]
    assert call("rate import fees fees.csv") == {"sheet": "fees", "rows": fees, "changed": 0}
    assert len(call("rate list fees")["items"]) == fees
    assert call("glossary add 없는말 ない言葉") == {"terms": 1, "changed": 1}
    assert call("glossary export words.csv") == {"file": "words.csv", "rows": 1}
    assert call("glossary drop 없는말") == {"terms": ["없는말"]}
    assert call("glossary import words.csv") == {"terms": 1, "changed": 1}
    shown = call("policy show")
    (program.folder / "policy.json").write_text(json.dumps(shown), "utf-8")
    assert call("policy set policy.json --account main")["origin"] == "account"
    assert call("policy show --account main")["policy"] == shown["policy"]


def test_wrong_files_and_names_are_told_what_to_do(call: Callable[..., Any], program: Up) -> None:
    folder = program.folder
    (folder / "bad.csv").write_text("market,kind\nbuyma,sale\n", "utf-8")
    (folder / "bad.json").write_text('{"undercut": 0}', "utf-8")
    (folder / "no.json").write_text("[1]", "utf-8")
    (folder / "few.csv").write_text("id,brand_name\n203,NIKE\n", "utf-8")

    assert call("rate import fees bad.csv", code=1)["error"]["message"] == "the fees file has no column 'source'"
    assert call("rate import feees bad.csv", code=3)["error"]["hint"] == "did you mean fees?"
    assert call("policy set bad.json", code=1)["error"]["hint"] == "at least one step"
    assert call("policy set no.json", code=1)["error"]["message"] == "no.json is no JSON object"
    assert call("mapping import nothing.csv", code=2)["error"]["code"] == "usage"
    assert "--shrink" in call("master import brands few.csv", code=4)["error"]["hint"]
    assert call("account set main", code=2)["error"]["code"] == "usage"
    assert call("account stop mian --why x", code=3)["error"]["code"] == "missing"
    assert call("category accept", code=2)["error"]["code"] == "usage"
    assert call("listing receipt nothing", code=3)["error"]["code"] == "missing"
    assert call("fx add JPY KRW nine --source bank", code=2)["error"]["code"] == "invalid"
    assert call("glossary drop 아무말", code=3) == {"terms": []}
    assert call("translation correct NIKE ナイキ", code=2)["error"]["code"] == "invalid"


def test_a_held_rate_and_the_switch(call: Callable[..., Any]) -> None:
    assert call("fx add JPY KRW 92 --source bank")["held"] == 1
    (held,) = call("fx list --state held")["items"]
    assert call(f"fx reject {held['id']}")["state"] == "REJECTED"
    assert call("account stop main --why", "wrong prices")["enabled"] is False
    assert call("account list")["items"][0]["stopped_why"] == "wrong prices"
    assert call("account start main")["enabled"] is True


def test_a_listing_is_closed_until_somebody_opens_it(call: Callable[..., Any]) -> None:
    sku = call("listing list --limit 1")["items"][0]["sku"]
    assert call(f"listing close {sku}", code=2)["error"]["code"] == "usage"
    assert call(f"listing close {sku} --why", "a letter") == {"sku": sku, "listings": 1}
    assert call(f"listing close {sku} --why", "a letter") == {"sku": sku, "listings": 0}
    (shown,) = call(f"listing show {sku}")["items"]
    assert (shown["closed_why"], shown["closed_at"] is not None) == ("a letter", True)
    assert call(f"listing open {sku} --account main") == {"sku": sku, "listings": 1}


def test_pictures_are_looked_at_and_ordered(call: Callable[..., Any]) -> None:
    key = call("listing list --limit 1")["items"][0]["sku"].removeprefix("okmall-")
    shown = call(f"picture list okmall/{key}")["items"]
    places = [str(one["position"]) for one in shown if one["state"] == "READY"]
    ordered = call(f"picture order okmall/{key}", *reversed(places))["items"]
    assert [one["sha256"] for one in ordered] == [one["sha256"] for one in reversed(shown)]
    assert {one["rights"] for one in call(f"picture declare okmall/{key} own")["items"]} == {"own"}
    sha256 = shown[0]["sha256"]
    assert call(f"picture block {sha256}", code=2)["error"]["code"] == "usage"
    assert call(f"picture block {sha256} --why", "a banner")["products"] >= 1
    assert [one["sha256"] for one in call("picture blocks")["items"]] == [sha256]
    assert call(f"picture unblock {sha256}")["sha256"] == sha256
    assert call(f"picture accept okmall/{key}", code=2)["error"]["code"] == "invalid"
    assert call("picture doubts")["items"] == []


def test_every_page_can_be_read_in_korean(
    program: Up, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, call: Callable[..., Any]
) -> None:
    sku = call("listing list --limit 1")["items"][0]["sku"]
    lines = (
        "account list | account show main | category list | mapping list --mall okmall | master list | rate list | "
        "glossary list --shipped | translation list | mapping list --mall okmall --unreviewed | "
        "picture blocks | picture doubts | "
        "rate list duty | fx list | policy show | product held | "
        f"price explain {sku} | price history {sku} | listing list | listing show {sku} | listing receipt {sku} | "
        "listing freshness | listing holds | listing webhooks | listing webhook 1 | mapping propose"
    )
    for line in lines.split(" | "):
        assert main([*line.split(), "--lang", "ko"]) == 0, line
        assert capsys.readouterr().out, line
