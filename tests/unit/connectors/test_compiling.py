"""What is wrong with a shop is said with file, line, key and what to do: all of it at once."""

from __future__ import annotations

import contextlib
import json
from datetime import time, timedelta
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bobusang.catalog.model import SourceType
from bobusang.connectors.sources.declared.expression import ENGINES
from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.path import HINT
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.lined.located import BadText
from bobusang.kit.lined.reading import read
from bobusang.stages.collect.policy import (
    BackOff,
    Freshness,
    Guards,
    Identity,
    IdentityKind,
    Issue,
    Limits,
    Policy,
    Quota,
    Reaction,
    Response,
    Window,
)
from bobusang.stages.collect.source import Ask, Kind, Target
from tests.unit.connectors.reading import compiled, problems, shipped, written

if TYPE_CHECKING:
    from pathlib import Path

LIST = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com"}
streams:
  list:
    request: {get: /list, query: {brand: "{brand}"}}
    for_each: {brand: {from: inputs.brands}}
    records: items[*]
    key: id
    fields: {name: name, price: price | won}
"""


ALL_WRONG = """\
shop: acme
intake: {kind: http, base: "https://acme.example.com"}
polcy: {}
limits: {rate: fast}
streams:
  list:
    request: {get: list, query: {b: "{brnd}"}}
    for_each: {brand: {from: inputs.brands}}
    records: items[*
    key: id
    fields:
      name: name | stripp
      price: [price | won, "xpath://b"]
    emitss: product
  detail:
    request: {get: "/i/{no}"}
    for_each: {no: {from: lst.key, when: nwe or older_than(24)}}
contract: {prise: {type: mony}}
"""


def test_all_problems_are_told_at_once_with_line_key_and_hint(tmp_path: Path) -> None:
    assert problems(tmp_path, ALL_WRONG) == [
        "shop.yaml:3: polcy: unknown key (did you mean policy?)",
        "shop.yaml:4: limits.rate: 'fast' is no rate (as in 2/s, 30/m or 80/h)",
        "shop.yaml:7: streams.list.request.get: a path begins with / (hosts stand in intake.base and intake.hosts)",
        "shop.yaml:7: streams.list.request.query: unknown placeholder {brnd} (did you mean brand?)",
        f"shop.yaml:9: streams.list.records: 'items[*' is no path: it breaks at character 6 ({HINT})",
        "shop.yaml:12: streams.list.fields.name: unknown filter 'stripp' (did you mean strip?)",
        f"shop.yaml:13: streams.list.fields.price[1]: unknown engine 'xpath' (known: {', '.join(sorted(ENGINES))})",
        "shop.yaml:14: streams.list.emitss: unknown key (did you mean emits?)",
        "shop.yaml:15: streams.detail.fields: is missing",
        "shop.yaml:17: streams.detail.for_each.no.from: there is no list 'lst' (did you mean list?)",
        "shop.yaml:17: streams.detail.for_each.no.when: unknown word 'nwe' (did you mean new?)",
        "shop.yaml:18: contract.prise.type: unknown type 'mony' (did you mean money?)",
        "shop.yaml:18: contract.prise: no stream reads this field (did you mean price?)",
    ]


WRONG = {
    "intake: {kind: graphql}": "intake.kind: this intake comes with later sources (http)",
    "identity: {kind: oauth2}": "identity.kind: this kind of identity comes with later sources",
    "identity: {kind: session}": "identity.issue: a session is issued somewhere",
    "responses: [{when: {}, do: fail}]": "responses[0].when: a condition is missing (status, path, body_has or json)",
    "responses: [{when: {status: 429}, do: sleep}]": "responses[0].do: unknown reaction 'sleep' ",
    "responses: [{when: {json: {a: {is: 1}}}, do: fail}]": "responses[0].when.json.a: not or has is missing",
    "responses: [{when: {json: {a: 1.5}}, do: fail}]": "responses[0].when.json.a: a text, a number or true and false",
    "guards: {coverage: most}": "guards.coverage: 'most' is no share (as in 10% or >= 98% of total)",
    "freshness: {price: {min: 2h, max: 1h}}": "freshness.price.min: the least is more than the most",
    "groups: {prise: [price]}": "groups.prise: unknown group 'prise' (did you mean price?)",
    "groups: {price: [prise]}": "groups.price: no stream reads 'prise' (did you mean price?)",
    "policy: {crawl_window: always}": "policy.crawl_window: 'always' are no hours (as in 09:00-18:00 Asia/Seoul)",
    "policy: {max_body: 8GB}": "policy.max_body: '8GB' is no size (as in 8MB or 512kB)",
    "policy: {js: always}": "policy.js: unknown way with scripts 'always'",
    "hooks: {list.before: x}": "hooks.list.before: a hook comes after a stream",
    "hooks: {list.after: nobody}": "hooks.list.after: unknown hook 'nobody'",
    "type: prodct": "type: unknown type of record 'prodct'",
    "contract: {price: {currency: WON}}": "contract.price.currency: unknown currency 'WON'",
    "streams: {}": "streams: 1 to 20 streams are allowed, not 0",
}


@pytest.mark.parametrize(("text", "said"), WRONG.items())
def test_a_mistake_in_a_section_is_named(tmp_path: Path, text: str, said: str) -> None:
    kept = "\n".join(
        line for line in LIST.splitlines() if not (text.startswith("intake") and line.startswith("intake"))
    )
    if text.startswith("streams"):
        kept = kept.partition("streams:")[0]
    found = problems(tmp_path, f"{kept}\n{text}\n")

    assert any(said in problem for problem in found), found


STREAM_WRONG = {
    "pages: {by: pages}": "pages.by: unknown paging 'pages' (did you mean page?)",
    "pages: {by: page}": "pages.param: is missing: which parameter is the page?",
    "pages: {by: next}": "pages.next: is missing: where does the page say what comes next?",
    "pages: {by: page, param: p, stop: [full]}": "pages.stop: unknown stop 'full'",
    "pages: {by: page, param: p, max: 0}": "pages.max: a whole number from 1 to 10,000 is expected, not 0",
    "pages: {by: page, param: p, size: {param: s}}": "pages.size.value: is missing",
    "pages: {by: next, next: n, prefix: x}": "pages.prefix: a path begins with /",
    "format: xml": "format: unknown format 'xml'",
    "gone: message": "needs: is missing",
    "variants: {records: o}": "variants.key: is missing",
    "variants: [1]": "variants: names with values are expected",
    "skip: x | nofilter": "skip: unknown filter 'nofilter'",
    "emits: brand": "fields.name: a brand has no such field (did you mean name_ko?)",
}


@pytest.mark.parametrize(("text", "said"), STREAM_WRONG.items())
def test_a_mistake_in_a_stream_is_named(tmp_path: Path, text: str, said: str) -> None:
    found = problems(tmp_path, LIST + indent(text, "    ") + "\n")

    assert any(f"streams.list.{said}" in problem for problem in found), found


BROKEN = {
    "a: &x 1\nb: *x": "anchors and aliases are not allowed",
    "shop: !!python/object:os.system x": "the tag",
    "shop: a\nshop: b": "the key 'shop' is there twice",
    "- a": "names with values are expected",
    "shop: [": "",
    "a: " + "[" * 60: "",
    "x: " + "a" * 2**21: "bytes are allowed",
}


@pytest.mark.parametrize(("text", "said"), BROKEN.items(), ids=range(len(BROKEN)))
def test_what_is_no_yaml_of_ours_is_refused(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadText) as caught:
        load_shop(written(tmp_path, text))

    assert said in str(caught.value)


def test_a_billion_laughs_cost_nothing(tmp_path: Path) -> None:
    bomb = "a: &a [x, x]\n" + "".join(f"{n}: &{n} [*{p}, *{p}]\n" for p, n in zip("abcdefgh", "bcdefghi", strict=True))

    assert problems(tmp_path, bomb) == [
        "shop.yaml:1:4: anchors and aliases are not allowed (write it out, or begin a text with a quote)"
    ]


def test_a_folder_without_a_shop_is_missing(tmp_path: Path) -> None:
    with pytest.raises(Missing, match=r"nobody/shop.yaml is not there"):
        load_shop(tmp_path / "nobody")


def test_the_policy_of_mustit_is_what_its_file_says() -> None:
    assert shipped("mustit").policy == Policy(
        identity=Identity(
            kind=IdentityKind.SESSION,
            size=20,
            issue=Issue(),
            expect_cookies=("token", "nid", "mustit_uid"),
            headers={"Authorization": "Bearer {token}"},
            cookies=("nid", "mustit_uid"),
            lifetime=timedelta(hours=2),
            renew_before=timedelta(minutes=5),
            quota=Quota(80, timedelta(hours=1)),
        ),
        limits=Limits(rate=2.0, concurrency=4, jitter=0.1),
        window=Window(time(0), time(0), "Asia/Seoul"),
        responses=(
            Response(
                Reaction.COOLDOWN_IDENTITY,
                (429,),
                back_off=BackOff(timedelta(seconds=60), 2.0, timedelta(days=1), timedelta(minutes=30)),
            ),
            Response(Reaction.RENEW_IDENTITY, (401,)),
            Response(Reaction.RENEW_IDENTITY, (400,), path="/search", reason="nid or mustit_uid is missing"),
            Response(Reaction.HALT, body_has=("Just a moment", "Human Verification"), reason="a bot wall"),
        ),
        guards=Guards(null_rate={"price": 0.01}),
        freshness={
            "price": Freshness(timedelta(minutes=30), timedelta(hours=24)),
            "stock": Freshness(timedelta(minutes=10), timedelta(hours=6)),
            "content": Freshness(timedelta(hours=6), timedelta(days=14)),
        },
        groups={
            "price": "price",
            "list_price": "price",
            "selling_price": "price",
            "shipping_fee": "price",
            "sold_out": "stock",
            "stock": "stock",
            "options": "stock",
            "options.*.stock": "stock",
            "images": "images",
            "thumbnail": "images",
            "name": "content",
            "brand": "content",
            "seller": "content",
            "category": "content",
            "origin": "content",
            "description": "content",
        },
        type=SourceType.SUPPLIER_PRODUCT,
        max_body=8 << 20,
        encoding="utf-8",
        currency="KRW",
        headers={"Accept": "application/json", "Accept-Language": "ko-KR,ko;q=0.9"},
    )


def test_units_and_shares_are_read_into_a_policy(tmp_path: Path) -> None:
    shop = compiled(
        tmp_path,
        LIST
        + """\
type: pricing
policy: {crawl_window: "22:00-06:30 Asia/Tokyo", max_body: 512kB, timeout: 5s, contact: we@example.com}
limits: {rate: 30/m, burst: 5, concurrency: 3, jitter: 0%, reserve: 10%, endpoints: {list: 1/m}}
guards: {coverage: ">= 90% of total", price_jump: {hold_if: "> 30%", confirm: 2},
         mass_change: {hold_if: "> 10% of items", least: 5}, option_fall: {hold_if: "> 25%"},
         absence: {confirm_runs: 3, only_if: coverage}, null_rate: {name: "< 2%"}}
""",
    )

    assert shop.policy == Policy(
        limits=Limits(0.45, 5.0, 3, 0.0, {"list": 1 / 60}),
        window=Window(time(22), time(6, 30), "Asia/Tokyo"),
        guards=Guards(0.9, 3, 0.3, 2, 0.1, 5, 0.25, {"name": 0.02}),
        type=SourceType.PRICING,
        max_body=512 << 10,
        timeout=timedelta(seconds=5),
        contact="we@example.com",
    )


def test_base_limits_and_quota_can_be_replaced_at_load(tmp_path: Path) -> None:
    folder = written(tmp_path, LIST)
    limits, quota = Limits(rate=500), Quota(9, timedelta(minutes=1))
    shop = load_shop(folder, base="http://127.0.0.1:8600/acme/", limits=limits, quota=quota)

    assert (shop.base, shop.policy.limits, shop.policy.identity.quota) == ("http://127.0.0.1:8600/acme", limits, quota)
    assert list(shop.seeds(Target("brand", "A/B & 나"))) == [
        Ask(
            "http://127.0.0.1:8600/acme/list?brand=A%2FB%20%26%20%EB%82%98",
            Kind.LIST,
            "list",
            given={"target": "brand:A/B & 나", "brand": "A/B & 나", "page": 1},
            key="list:brand:A/B & 나:1",
        )
    ]


def test_the_version_is_that_of_the_meaning(tmp_path: Path) -> None:
    plain = compiled(tmp_path, LIST).version

    assert compiled(tmp_path, "# another comment\n" + LIST).version == plain
    assert compiled(tmp_path, LIST + "limits: {rate: 9/s}\n").version == plain
    assert load_shop(tmp_path / "acme", base="http://other.example.com").version == plain
    assert compiled(tmp_path, LIST.replace("price | won", "price | int")).version != plain


def test_a_target_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as caught:
        compiled(tmp_path, LIST).seeds(Target("brnd", "x"))

    assert str(caught.value) == "acme is not collected by brnd (did you mean brand?)"


def test_a_request_may_post_json_with_names_inside(tmp_path: Path) -> None:
    shop = compiled(
        tmp_path,
        """\
        shop: acme
        intake: {kind: http, base: "https://acme.example.com"}
        streams:
          list:
            request:
              post: /search/{brand}
              headers: {X-Brand: "{brand}"}
              body: {filters: [{brand: "{brand}"}], pageNo: 1, size: 60}
            for_each: {brand: {from: inputs.brands.code}}
            records: items[*]
            key: id
            fields: {name: name}
        """,
    )

    assert list(shop.seeds(Target("brand", "나이키", {"code": "N\r\n1"}))) == [
        Ask(
            "https://acme.example.com/search/N%0D%0A1",
            Kind.LIST,
            "list",
            "POST",
            {"X-Brand": "N1", "Content-Type": "application/json"},
            '{"filters":[{"brand":"N\\r\\n1"}],"pageNo":1,"size":60}',
            {"target": "brand:나이키", "brand": "N\r\n1", "page": 1},
            key="list:brand:나이키:1",
        )
    ]
    with pytest.raises(Invalid, match="the target brand:나이키 has no code"):
        shop.seeds(Target("brand", "나이키"))


VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, "", "x", "a | won", "{page}", [], [1], ["x"], {}, {"x": 1}, [[]]]
)


def places(value: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place, *(found for name, each in inner for found in places(each, (*place, name)))]


def replaced(value: Any, place: tuple[str | int, ...], other: object) -> Any:
    if not place:
        return other
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], other)
    return copy


@pytest.mark.parametrize("name", ["okmall", "mustit", "news", "feed"])
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_shop_with_anything_in_any_place_loads_or_says_what_is_wrong(
    tmp_path: Path, name: str, data: st.DataObject
) -> None:
    shop = read((SHIPPED / name / "shop.yaml").read_text("utf-8")).value
    place = data.draw(st.sampled_from(places(shop)[1:]))
    spoilt = replaced(shop, place, data.draw(VALUES))
    folder = written(tmp_path, json.dumps(spoilt))

    with contextlib.suppress(BadText):
        load_shop(folder)
