"""Notices by e-mail: `smtp://user:password@host:port?from=a@b&to=c@d`, or `smtps://` for TLS from the first byte."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from bobusang.kit.clock import SystemClock
from bobusang.kit.errors import Invalid, Rejected, Unavailable
from bobusang.platform.notifier import shortened

if TYPE_CHECKING:
    import ssl

    from bobusang.kit.clock import Clock
    from bobusang.platform.notifier import Notice

PORTS = {"smtp": 25, "smtps": 465}
FIELD = "smtp_url"
EXAMPLE = "write smtp://user:password@host:587?from=bobusang@example.com&to=team@example.com"


@dataclass(frozen=True, slots=True)
class Post:
    """How the mail server is reached."""

    host: str
    port: int
    username: str | None
    password: str | None = field(repr=False)
    sender: str
    recipients: tuple[str, ...]
    use_tls: bool
    start_tls: bool | None
    """True: insist; None: when the server offers it; False: never."""


def parsed(url: str) -> Post:
    """Read the address; a login goes over TLS unless `tls=none` says otherwise."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        raise Invalid("the port of the mail server is no number", hint=EXAMPLE, field=FIELD) from None
    if parts.scheme not in PORTS or not parts.hostname:
        raise Invalid("the address of the mail server cannot be read", hint=EXAMPLE, field=FIELD)
    query = parse_qs(parts.query)
    recipients = tuple(each.strip() for value in query.get("to", ()) for each in value.split(",") if each.strip())
    sender = query.get("from", [""])[0].strip()
    if not sender or not recipients:
        raise Invalid("the address of the mail server lacks 'from' or 'to'", hint=EXAMPLE, field=FIELD)
    tls = query.get("tls", ["starttls" if parts.username else "auto"])[0]
    if tls not in {"auto", "starttls", "none"}:
        raise Invalid(
            f"tls={tls} is not known", hint="use auto, starttls or none; smtps:// for TLS at once", field=FIELD
        )
    return Post(
        host=parts.hostname,
        port=port or (587 if parts.scheme == "smtp" and tls == "starttls" else PORTS[parts.scheme]),
        username=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        sender=sender,
        recipients=recipients,
        use_tls=parts.scheme == "smtps",
        start_tls=False if parts.scheme == "smtps" else {"auto": None, "starttls": True, "none": False}[tls],
    )


class EmailNotifier:
    """Sends each notice as one plain mail; no error holds the password."""

    name = "email"

    def __init__(
        self, url: str, *, clock: Clock | None = None, timeout: float = 20.0, tls: ssl.SSLContext | None = None
    ) -> None:
        self._post = parsed(url)
        self._clock = clock or SystemClock()
        self._timeout = timeout
        self._tls = tls

    def __repr__(self) -> str:
        return f"EmailNotifier({self._post.host}:{self._post.port})"

    async def send(self, notice: Notice) -> None:
        """Hand it to the mail server."""
        import aiosmtplib

        post = self._post
        try:
            await aiosmtplib.send(
                self._written(notice),
                sender=post.sender,
                recipients=list(post.recipients),
                hostname=post.host,
                port=post.port,
                username=post.username,
                password=post.password,
                use_tls=post.use_tls,
                start_tls=post.start_tls,
                tls_context=self._tls,
                timeout=self._timeout,
            )
        except (
            aiosmtplib.SMTPAuthenticationError,
            aiosmtplib.SMTPRecipientsRefused,
            aiosmtplib.SMTPSenderRefused,
        ) as error:
            refusal = f"{type(error).__name__} {getattr(error, 'code', '')}".strip()
            raise Rejected(f"the mail server {post.host} refuses: {refusal}", hint="check BOBUSANG_SMTP_URL") from None
        except (aiosmtplib.SMTPException, OSError) as error:
            raise Unavailable(f"the mail server {post.host}:{post.port} failed: {type(error).__name__}") from None

    def _written(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._post.sender
        message["To"] = ", ".join(self._post.recipients)
        message["Subject"] = shortened(" ".join(f"[{notice.level}] {notice.title}".split()), 200)
        message["Date"] = format_datetime(self._clock.now())
        message["Message-ID"] = make_msgid(domain=self._post.sender.rpartition("@")[2] or "localhost")
        message["Auto-Submitted"] = "auto-generated"  # no vacation replies
        lines = [notice.text, "", *(f"{name}: {value}" for name, value in notice.fields.items())]
        message.set_content("\n".join([*lines, "", notice.link or ""]).strip() + "\n", charset="utf-8")
        return message
