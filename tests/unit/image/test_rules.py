"""Places: in the source's order at first, and once a market shows them they stay."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from bobusang.catalog.images import TAKEN_OUT, ProductImage
from bobusang.catalog.tables.images import PLACES, ImageState, Rights
from bobusang.kit.errors import Missing, Unavailable
from bobusang.stages.image.model import Failed, Finding, Good, Limits, Refused, Wanted
from bobusang.stages.image.rules import ANOTHER_COVER, addresses, arranged, judged, lacks_cover, spread, url_hash
from tests.unit.image.pictures import file

if TYPE_CHECKING:
    from bobusang.stages.image.look import Look

LOOKS: dict[str, Look] = {}


def address(name: str) -> str:
    return f"https://img.example.com/{name}.jpg"


def wanted(*names: str, published: bool = False, rights: Rights = Rights.UNKNOWN) -> Wanted:
    return Wanted(1, "okmall", tuple(address(name) for name in names), published=published, rights=rights)


def found(**given: Finding | str) -> dict[str, Finding]:
    return {address(name): Good(file(one)) if isinstance(one, str) else one for name, one in given.items()}


def image(name: str, sha256: str | None = None, state: ImageState = ImageState.READY) -> ProductImage:
    url = address(name)
    content = sha256 or (name.upper() if state is ImageState.READY else None)
    return ProductImage(url, url_hash(url), state, content, rights_source="okmall")


def shown(images: tuple[ProductImage, ...]) -> list[str | None]:
    return [image.sha256 for image in images if image.is_ready]


def test_addresses_are_taken_once_in_their_order_up_to_the_places() -> None:
    many = [f"https://x/{number}" for number in range(30)]

    assert addresses(["//x/1", " https://x/1#top ", "data:image/png;base64,AA", "/relative", "HTTP://X/2"]) == (
        "https://x/1",
        "HTTP://X/2",
    )
    assert addresses(["//x/1", "/2", "http://[", ""], "http://mall:8000/view?no=1") == (
        "http://x/1",
        "http://mall:8000/2",
    )
    assert addresses(many) == tuple(many[:PLACES])
    assert addresses([f"https://x/{'y' * 2000}", "https://x/\0", "https://x/\udcff", "https:///1"]) == ()


def test_new_pictures_stand_in_the_order_of_the_source_each_content_once() -> None:
    after = arranged(wanted("a", "b", "c"), (), found(a="A", b="A", c="C"), LOOKS)

    assert after == (image("a"), image("c"))


def test_what_is_ready_stands_first_without_gaps() -> None:
    away = Unavailable("503")
    gone = Missing("404")
    findings = found(a=Refused("it moves"), b="B", c=Failed(away), d=Failed(gone), e="E")

    after = arranged(wanted("a", "b", "c", "d", "e", "f"), (), findings, LOOKS)

    assert after == (
        image("b"),
        image("e"),
        replace(image("a", state=ImageState.REFUSED), reason="it moves"),
        replace(image("c", state=ImageState.PENDING), reason="503"),
        replace(image("d", state=ImageState.FAILED), reason="404"),
        image("f", state=ImageState.PENDING),
    )


def test_until_a_market_shows_it_a_late_cover_still_becomes_the_cover() -> None:
    before = arranged(wanted("a", "b"), (), found(a=Failed(Unavailable("503")), b="B"), LOOKS)
    assert shown(before) == ["B"]

    assert shown(arranged(wanted("a", "b"), before, found(a="A", b="B"), LOOKS)) == ["A", "B"]


def test_a_cover_that_comes_later_is_waited_for_until_a_market_shows_it() -> None:
    late, gone, early = Failed(Unavailable("503")), Failed(Missing("404")), "B"

    def lacking(first: Finding | str, *, published: bool = False) -> str:
        asked, findings = wanted("a", "b", published=published), found(a=first, b=early)
        return lacks_cover(asked, arranged(asked, (), findings, LOOKS))

    assert [lacking(one) for one in (late, gone, Refused("it moves"), "A")] == ["503", "", "", ""]
    assert lacking(late, published=True) == ""
    assert lacks_cover(wanted("b", "a"), arranged(wanted("b", "a"), (), found(a=late, b=early), LOOKS)) == ""


def test_once_shown_the_cover_stays_and_new_pictures_follow() -> None:
    before = (image("a"), image("b"))

    after = arranged(wanted("n", "b", "a", published=True), before, found(n="N", a="A", b="B"), LOOKS)

    assert shown(after) == ["A", "B", "N"]


def test_a_picture_that_vanished_keeps_its_place() -> None:
    before = (image("a"), image("b"), image("c"))

    after = arranged(wanted("b", "d", published=True), before, found(b="B", d="D"), LOOKS)

    assert after == (*before, image("d"))


def test_a_vanished_picture_is_replaced_by_the_same_at_another_address() -> None:
    """The mall moved its pictures to another host: 100,000 covers must not be sent again."""
    after = arranged(wanted("x", "y", published=True), (image("a"), image("b")), found(x="B", y="A"), LOOKS)

    assert after == (image("y", "A"), image("x", "B"))


def test_a_vanished_picture_is_replaced_by_its_like() -> None:
    looks = {name: file("A").look for name in ("A", "A2")}

    after = arranged(wanted("x", published=True), (image("a"), image("b")), found(x="A2"), looks)

    assert shown(after) == ["A2", "B"]


def test_the_address_of_the_cover_gives_another_picture_and_the_cover_stays() -> None:
    before = (image("a"), image("b"))

    after = arranged(wanted("a", "b", published=True), before, found(a="BANNER", b="B2"), LOOKS)

    assert after == (replace(image("a"), reason=ANOTHER_COVER), image("b", "B2"))


def test_a_banner_or_an_error_in_place_of_a_good_picture_takes_nothing_away() -> None:
    before = (image("a"), image("b"))
    for published in (True, False):
        findings = found(a=Refused("a banner", "BANNER"), b=Failed(Missing("404")))

        assert arranged(wanted("a", "b", published=published), before, findings, LOOKS) == before


def test_what_a_person_has_blocked_is_no_longer_shown() -> None:
    before = (image("a"), image("b"))

    after = arranged(wanted("a", "b", published=True), before, found(a=Refused("a banner", "A"), b="B"), LOOKS)

    assert after == (image("b"), replace(image("a", "A", ImageState.REFUSED), reason="a banner"))


def test_what_a_person_took_out_does_not_come_back() -> None:
    out = replace(image("a", "A", ImageState.REFUSED), reason=TAKEN_OUT)

    after = arranged(wanted("a", "b", "c", published=True), (image("b"), out), found(a="A", b="B", c="A"), LOOKS)

    assert shown(after) == ["B"]
    assert arranged(wanted("b", published=True), after, found(b="B"), LOOKS)[-1].reason == TAKEN_OUT


def test_a_source_that_names_no_picture_changes_nothing() -> None:
    before = (image("a"),)

    assert arranged(wanted(), before, {}, LOOKS) == before


def test_rights_that_somebody_declared_stay() -> None:
    mine = replace(image("a"), rights=Rights.OWN, rights_source="kim")

    after = arranged(wanted("a", "b", rights=Rights.SUPPLIER), (mine,), found(a="A", b="B"), LOOKS)

    assert after == (mine, replace(image("b"), rights=Rights.SUPPLIER))


def test_rights_that_the_source_gave_are_those_of_today() -> None:
    before = (replace(image("a"), rights=Rights.SUPPLIER),)

    after = arranged(wanted("a", published=True), before, found(a="A"), LOOKS)

    assert after == (image("a"),)


def test_a_known_picture_is_judged_by_the_rules_of_today() -> None:
    one, other = file("A"), file("B")
    blocks = [(other.look, "hot-link banner")]

    assert judged(one, Limits(), blocks) == Good(one)
    assert judged(other, Limits(), blocks) == Refused("hot-link banner", "B")
    assert judged(one, Limits(least_side=601), blocks) == Refused("600 × 600 is too small", "A")


def test_a_picture_of_many_unrelated_products_is_of_none_of_them() -> None:
    reason = "the very same picture stands on 5 unrelated products: a banner or a placeholder"

    assert [spread("A", groups, Limits()) for groups in (4, 5)] == [None, Refused(reason, "A")]


names = st.sampled_from("abcdefgh")
contents = st.one_of(
    st.sampled_from("ABCDEFGH"),
    st.just(Refused("it moves")),
    st.builds(lambda sha256: Refused("a banner", sha256), st.sampled_from("ABC")),
    st.just(Failed(Unavailable("503"))),
    st.just(Failed(Missing("404"))),
)
rounds = st.tuples(st.lists(names, max_size=8), st.dictionaries(names, contents), st.booleans())


@given(st.lists(rounds, min_size=1, max_size=6))
def test_whatever_happens_the_places_are_in_order(
    history: list[tuple[list[str], dict[str, Finding | str], bool]],
) -> None:
    images: tuple[ProductImage, ...] = ()
    for given_names, said, published in history:
        asked, findings = wanted(*given_names, published=published), found(**said)
        before, images = images, arranged(asked, images, findings, LOOKS)

        states = [image.is_ready for image in images]
        assert states == sorted(states, reverse=True)
        assert len(shown(images)) == len(set(shown(images)))
        assert len({image.source_url for image in images}) == len(images) <= PLACES
        assert arranged(asked, images, findings, LOOKS) == images
        if published and shown(before):
            blocked = {one.sha256 for one in findings.values() if isinstance(one, Refused)}
            assert shown(images)[:1] == shown(before)[:1] or shown(before)[0] in blocked
