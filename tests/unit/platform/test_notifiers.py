from __future__ import annotations

import pytest

from bobusang.kit.errors import Invalid, Unavailable
from bobusang.platform.notifier import Level, Notice, shortened
from bobusang.platform.notifiers.email import EmailNotifier, Post, parsed
from bobusang.platform.notifiers.many import ManyNotifiers
from bobusang.platform.notifiers.slack import SlackNotifier, escaped, written

NOTICE = Notice("rule:subject", Level.WARNING, "title", "text")


class Inbox:
    def __init__(self, name: str) -> None:
        self.name = name
        self.notices: list[Notice] = []
        self.broken: Exception | None = None

    async def send(self, notice: Notice) -> None:
        if self.broken:
            raise self.broken
        self.notices.append(notice)


def test_the_rule_is_the_first_part_of_the_key() -> None:
    assert (NOTICE.rule, Notice("rule", Level.OK, "", "").rule) == ("rule", "rule")


def test_what_is_cut_shows() -> None:
    assert (shortened("보부상", 3), shortened("보부상단", 3)) == ("보부상", "보부…")


# --- several ---------------------------------------------------------------------------------------------------------


async def test_a_failing_notifier_stops_no_other_and_is_tried_alone_the_next_time() -> None:
    first, second, third = Inbox("slack"), Inbox("email"), Inbox("log")
    second.broken = Unavailable("no line")
    many = ManyNotifiers([first, second, third])

    with pytest.raises(Unavailable, match="email"):
        await many.send(NOTICE)
    assert (first.notices, third.notices) == ([NOTICE], [NOTICE])

    second.broken = None
    await many.send(NOTICE)
    assert [inbox.notices for inbox in (first, second, third)] == [[NOTICE], [NOTICE], [NOTICE]]

    await many.send(NOTICE)  # a new occasion
    assert len(first.notices) == 2


async def test_a_bug_in_one_notifier_stops_no_other_either() -> None:
    broken, sound = Inbox("slack"), Inbox("log")
    broken.broken = RuntimeError("bug")
    with pytest.raises(Unavailable):
        await ManyNotifiers([broken, sound]).send(NOTICE)
    assert sound.notices == [NOTICE]


async def test_what_is_remembered_is_bounded() -> None:
    broken = Inbox("slack")
    broken.broken = Unavailable("no line")
    many = ManyNotifiers([broken])
    for number in range(1100):
        with pytest.raises(Unavailable):
            await many.send(Notice(f"rule:{number}", Level.INFO, "t", "x"))
    assert len(many._reached) == 1000


# --- Slack -----------------------------------------------------------------------------------------------------------


def test_a_slack_message_is_bounded_and_no_escape_is_cut() -> None:
    notice = Notice("k", Level.OK, "<" * 1000, "&" * 10_000, "https://x/a|b", {f"f{n}": "v" * 1000 for n in range(50)})
    text = written(notice)
    assert text.startswith("✅ *" + "&lt;" * 149 + "…*\n")
    assert text.endswith("<https://x/a%7Cb>")
    assert len(text) < 20_000  # Slack's own limit is 40,000


@pytest.mark.parametrize("link", [None, "javascript:alert(1)", "file:///etc/passwd"])
def test_only_web_links_are_sent(link: str | None) -> None:
    assert written(Notice("k", Level.INFO, "t", "x", link)) == "ℹ️ *t*\nx"


def test_slacks_control_characters_are_escaped() -> None:
    assert escaped("<!channel> & <http://x|y>", 100) == "&lt;!channel&gt; &amp; &lt;http://x|y&gt;"


def test_a_webhook_that_is_no_address_is_refused_without_showing_it() -> None:
    with pytest.raises(Invalid) as caught:
        SlackNotifier("verysecret")
    assert caught.value.field == "slack_webhook_url"
    assert "verysecret" not in str(caught.value)


# --- e-mail ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "post"),
    [
        (
            "smtp://mail.example?from=a@x.example&to=b@x.example",
            Post("mail.example", 25, None, None, "a@x.example", ("b@x.example",), use_tls=False, start_tls=None),
        ),
        (
            "smtp://bob:p%40ss@mail.example?from=a@x.example&to=b@x.example,c@x.example",
            Post(
                "mail.example",
                587,
                "bob",
                "p@ss",
                "a@x.example",
                ("b@x.example", "c@x.example"),
                use_tls=False,
                start_tls=True,
            ),
        ),
        (
            "smtp://bob:pw@mail.example:2525?from=a@x.example&to=b@x.example&tls=none",
            Post("mail.example", 2525, "bob", "pw", "a@x.example", ("b@x.example",), use_tls=False, start_tls=False),
        ),
        (
            "smtps://mail.example?from=a@x.example&to=b@x.example&to=c@x.example",
            Post(
                "mail.example",
                465,
                None,
                None,
                "a@x.example",
                ("b@x.example", "c@x.example"),
                use_tls=True,
                start_tls=False,
            ),
        ),
    ],
)
def test_the_address_says_how_mail_is_sent(url: str, post: Post) -> None:
    assert parsed(url) == post


@pytest.mark.parametrize(
    "url",
    [
        "http://bob:pw-secret@mail.example?from=a&to=b",
        "smtp://bob:pw-secret@mail.example?to=b",
        "smtp://bob:pw-secret@mail.example?from=a",
        "smtp://bob:pw-secret@mail.example:port?from=a&to=b",
        "smtp://bob:pw-secret@?from=a&to=b",
        "smtp://bob:pw-secret@mail.example?from=a&to=b&tls=maybe",
    ],
)
def test_a_wrong_address_is_refused_without_showing_the_password(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        EmailNotifier(url)
    assert caught.value.field == "smtp_url"
    assert "pw-secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_password_shows_in_no_text() -> None:
    url = "smtp://bob:pw-secret@mail.example?from=a&to=b"
    assert "pw-secret" not in f"{parsed(url)!r} {EmailNotifier(url)!r}"
