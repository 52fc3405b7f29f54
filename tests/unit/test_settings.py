"""Settings: where they come from, and what is said of a wrong one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.kit.errors import Invalid
from bobusang.settings import Settings, load, masked, origins

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    assert load({}, tmp_path) == Settings()


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    (tmp_path / "bobusang.toml").write_text('port = 9001\nhost = "0.0.0.0"\nkeep_days = 7\n')

    found = load(
        {"BOBUSANG_PORT": "9002", "BOBUSANG_KEEP_DAYS": "8", "BOBUSANG_METRICS_OPEN": "true"}, tmp_path, port=9003
    )

    assert found == Settings(port=9003, host="0.0.0.0", keep_days=8, metrics_open=True)


@pytest.mark.parametrize(
    ("environment", "message", "hint"),
    [
        (
            {"BOBUSANG_PORT": "eighty"},
            "BOBUSANG_PORT: Expected `int`, got `str`",
            "it is the port the API listens on; 0 picks a free one; the default is 8000",
        ),
        (
            {"BOBUSANG_PORT": "70000"},
            "BOBUSANG_PORT: Expected `int` <= 65535",
            "it is the port the API listens on; 0 picks a free one; the default is 8000",
        ),
        ({"BOBUSANG_DATABSE_URL": "x"}, "BOBUSANG_DATABSE_URL is not a setting", "did you mean BOBUSANG_DATABASE_URL?"),
        (
            {"BOBUSANG_BEAT_SECONDS": "20"},
            "BOBUSANG_DEAD_SECONDS (30) is below three beats of 20 s",
            "a worker that misses one beat would be taken for dead",
        ),
        (
            {"BOBUSANG_LOG_LEVEL": "loud"},
            "BOBUSANG_LOG_LEVEL: Expected `str` matching regex '^(DEBUG|INFO|WARNING|ERROR)$'",
            "it is the least level logged; the default is 'INFO'",
        ),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, environment: dict[str, str], message: str, hint: str) -> None:
    with pytest.raises(Invalid) as caught:
        load(environment, tmp_path)

    assert (caught.value.message, caught.value.hint) == (message, hint)


def test_a_broken_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bobusang.toml").write_text("port = = 1\n")

    with pytest.raises(Invalid, match=r"bobusang\.toml: .*line 1"):
        load({}, tmp_path)


def test_secrets_are_masked_when_shown() -> None:
    shown = Settings(
        database_url="postgresql://seller:tiger@db:5432/shop",
        slack_webhook_url="https://hooks/secret",
        smtp_url="smtp://a:b@c",
    ).shown()

    assert (shown["database_url"], shown["slack_webhook_url"], shown["smtp_url"]) == (
        "postgresql://seller:***@db:5432/shop",
        "***",
        "***",
    )
    assert masked("sqlite:///a.db") == "sqlite:///a.db"


def test_origins_name_the_variable_or_the_file(tmp_path: Path) -> None:
    (tmp_path / "bobusang.toml").write_text('port = 9000\nhost = "0.0.0.0"\n')

    found = origins({"BOBUSANG_PORT": "1", "BOBUSANG_LANG": "ko"}, tmp_path)

    assert found == {"port": "BOBUSANG_PORT", "host": f"{tmp_path / 'bobusang.toml'}: host"}
