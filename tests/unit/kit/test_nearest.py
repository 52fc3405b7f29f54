import pytest

from bobusang.kit.nearest import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("FETSH", ("FETCH", "PARSE"), "FETCH"),
        ("fetch", ("FETCH", "PARSE"), "FETCH"),
        ("쇼핑물", ("쇼핑몰", "은행"), "쇼핑몰"),
        ("zebra", ("FETCH", "PARSE"), None),
        ("", ("FETCH",), None),
        ("FETCH", (), None),
    ],
)
def test_the_nearest_word_is_found_whatever_its_case(word: str, known: tuple[str, ...], found: str | None) -> None:
    assert nearest(word, known) == found


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("FETSH", ("PARSE", "FETCH"), "did you mean FETCH?"),
        ("zebra", ("PARSE", "FETCH"), "known: FETCH, PARSE"),
        (
            "zebra",
            [f"name{number:02}" for number in range(11)],
            "known: " + ", ".join(f"name{n:02}" for n in range(10)) + ", …",
        ),
        ("zebra", (), ""),
    ],
)
def test_a_hint_names_the_nearest_word_or_the_known_ones(word: str, known: tuple[str, ...], hint: str) -> None:
    assert did_you_mean(word, known) == hint
