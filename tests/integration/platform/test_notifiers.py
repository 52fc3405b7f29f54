"""Slack and e-mail against real local servers."""

from __future__ import annotations

import asyncio
import email
import email.policy
import ssl
import subprocess
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult

from bobusang.kit.errors import Rejected, Throttled, Unavailable
from bobusang.platform.notifier import Level, Notice
from bobusang.platform.notifiers.email import EmailNotifier
from bobusang.platform.notifiers.slack import ATTEMPTS, SlackNotifier
from tests.integration.platform.receiver import Answer, Receiver, Request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.integration.platform.manual import ManualClock

NOTICE = Notice(
    "failure_rate:수집",
    Level.CRITICAL,
    "수집 실패율 42 % <b>",
    "워크플로 <수집> & 변환이 자주 실패합니다.",
    "https://bobusang.example/jobs?state=FAILED",
    {"workflow": "수집", "hour": "09–10"},
)


# --- Slack -----------------------------------------------------------------------------------------------------------


class Slack:
    """A notifier for the local receiver, and the waits it would have slept."""

    def __init__(self, receiver: Receiver, clock: ManualClock) -> None:
        self.url = f"http://127.0.0.1:{receiver.port}/services/T0/B0/verysecret"
        self.waits: list[float] = []
        self.notifier = SlackNotifier(self.url, clock=clock, sleep=self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture
def slack(receiver: Receiver, clock: ManualClock) -> Slack:
    return Slack(receiver, clock)


async def test_slack_gets_the_escaped_text(receiver: Receiver, slack: Slack) -> None:
    await slack.notifier.send(NOTICE)
    (request,) = receiver.requests
    assert request.path == "/services/T0/B0/verysecret"
    assert request.json == {
        "text": "🚨 *수집 실패율 42 % &lt;b&gt;*\n"
        "워크플로 &lt;수집&gt; &amp; 변환이 자주 실패합니다.\n"
        "• workflow: 수집\n"
        "• hour: 09–10\n"
        "<https://bobusang.example/jobs?state=FAILED>"
    }


async def test_slack_is_waited_for_as_long_as_it_asks(receiver: Receiver, slack: Slack) -> None:
    answers = iter([Answer(429, {"Retry-After": "7"}), Answer(500), Answer()])

    async def moody(request: Request) -> Answer:
        return next(answers)

    receiver.respond = moody
    await slack.notifier.send(NOTICE)
    assert len(receiver.requests) == 3
    assert slack.waits == [7.0, 2.0]


async def test_a_long_rest_is_handed_back(receiver: Receiver, slack: Slack, clock: ManualClock) -> None:
    async def tired(request: Request) -> Answer:
        return Answer(429, {"Retry-After": "3600"})

    receiver.respond = tired
    with pytest.raises(Throttled) as caught:
        await slack.notifier.send(NOTICE)
    assert (caught.value.until - clock.now()).total_seconds() == 3600
    assert slack.waits == []


@pytest.mark.parametrize(("status", "error", "tries"), [(503, Unavailable, ATTEMPTS), (404, Rejected, 1)])
async def test_slack_errors_hold_no_address(
    receiver: Receiver, slack: Slack, status: int, error: type[Exception], tries: int
) -> None:
    async def broken(request: Request) -> Answer:
        return Answer(status, body=b"no_service")

    receiver.respond = broken
    with pytest.raises(error) as caught:
        await slack.notifier.send(NOTICE)
    assert len(receiver.requests) == tries
    assert "verysecret" not in f"{caught.value!r} {caught.value} {slack.notifier!r}"


async def test_an_unreachable_slack_holds_no_address_either(slack: Slack) -> None:
    notifier = SlackNotifier("http://127.0.0.1:1/services/verysecret", sleep=slack.sleep)
    with pytest.raises(Unavailable) as caught:
        await notifier.send(NOTICE)
    assert "verysecret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


# --- e-mail ----------------------------------------------------------------------------------------------------------


class Mailbox:
    def __init__(self) -> None:
        self.mails: list[Any] = []
        self.refuses = ""

    async def handle_RCPT(self, server: Any, session: Any, envelope: Any, address: str, options: Any) -> str:  # noqa: N802
        if address == self.refuses:
            return "550 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        self.mails.append(envelope)
        return "250 OK"


def authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    known = (data.login, data.password) == (b"bob", b"p@ss/word")
    return AuthResult(success=known, handled=known)  # not handled: the server itself says 535


@asynccontextmanager
async def serving(mailbox: Mailbox, *, tls: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(mailbox, loop=loop, **options), "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"]
    subprocess.run([*command.split(), *names], cwd=folder, check=True, capture_output=True)
    return folder


def server_context(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def client_context(folder: Path) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(folder / "cert.pem"))


async def test_a_mail_with_a_korean_subject_arrives(clock: ManualClock) -> None:
    mailbox = Mailbox()
    async with serving(mailbox) as port:
        url = f"smtp://127.0.0.1:{port}?from=bobusang@example.com&to=a@example.com,b@example.com"
        await EmailNotifier(url, clock=clock).send(NOTICE)
    (envelope,) = mailbox.mails
    mail = email.message_from_bytes(envelope.content, policy=email.policy.default)
    assert (envelope.mail_from, envelope.rcpt_tos) == ("bobusang@example.com", ["a@example.com", "b@example.com"])
    assert mail["Subject"] == "[CRITICAL] 수집 실패율 42 % <b>"
    assert mail["To"] == "a@example.com, b@example.com"
    assert mail["Date"].datetime == clock.now()
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content().replace("\r\n", "\n") == (
        "워크플로 <수집> & 변환이 자주 실패합니다.\n\nworkflow: 수집\nhour: 09–10\n\n"
        "https://bobusang.example/jobs?state=FAILED\n"
    )


async def test_a_title_with_a_line_break_forges_no_header() -> None:
    mailbox = Mailbox()
    async with serving(mailbox) as port:
        url = f"smtp://127.0.0.1:{port}?from=bobusang@example.com&to=a@example.com"
        await EmailNotifier(url).send(Notice("k", Level.INFO, "hello\r\nBcc: thief@example.com", "text"))
    mail = email.message_from_bytes(mailbox.mails[0].content, policy=email.policy.default)
    assert mail["Bcc"] is None
    assert mail["Subject"] == "[INFO] hello Bcc: thief@example.com"


async def test_a_login_goes_over_starttls(certificate: Path) -> None:
    mailbox = Mailbox()
    tls = server_context(certificate)
    async with serving(mailbox, tls_context=tls, authenticator=authenticate, auth_required=True) as port:
        url = f"smtp://bob:p%40ss%2Fword@127.0.0.1:{port}?from=b@example.com&to=a@example.com"
        await EmailNotifier(url, tls=client_context(certificate)).send(NOTICE)
        assert len(mailbox.mails) == 1

        wrong = EmailNotifier(url.replace("p%40ss", "wrong"), tls=client_context(certificate))
        with pytest.raises(Rejected) as caught:
            await wrong.send(NOTICE)
        assert "wrong" not in str(caught.value)
        with pytest.raises(Unavailable):  # a certificate nobody vouches for
            await EmailNotifier(url).send(NOTICE)
    assert len(mailbox.mails) == 1


async def test_tls_from_the_first_byte(certificate: Path) -> None:
    mailbox = Mailbox()
    async with serving(mailbox, tls=server_context(certificate)) as port:
        url = f"smtps://127.0.0.1:{port}?from=b@example.com&to=a@example.com"
        await EmailNotifier(url, tls=client_context(certificate)).send(NOTICE)
    assert len(mailbox.mails) == 1


async def test_a_login_is_never_sent_in_the_clear_unasked() -> None:
    mailbox = Mailbox()
    async with serving(mailbox, authenticator=authenticate, auth_require_tls=False) as port:
        url = f"smtp://bob:p%40ss%2Fword@127.0.0.1:{port}?from=b@example.com&to=a@example.com"
        with pytest.raises(Unavailable):
            await EmailNotifier(url).send(NOTICE)
        await EmailNotifier(url + "&tls=none").send(NOTICE)
    assert len(mailbox.mails) == 1


async def test_a_refused_recipient_and_a_dead_server_are_told_apart() -> None:
    mailbox = Mailbox()
    mailbox.refuses = "a@example.com"
    async with serving(mailbox) as port:
        url = f"smtp://127.0.0.1:{port}?from=b@example.com&to=a@example.com"
        with pytest.raises(Rejected):
            await EmailNotifier(url).send(NOTICE)
    with pytest.raises(Unavailable):
        await EmailNotifier(url).send(NOTICE)
