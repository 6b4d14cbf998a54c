"""Where notices go: services that apprise knows. What an address holds never reaches a log or an error."""

import logging
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.exporter.alerts import Notification
from streamops.model.observation import Health
from streamops.model.secret import Secret
from streamops.resources.text import safe, shorten
from streamops.settings.connections import located
from streamops.settings.load import Settings
from streamops.settings.secrets import read_secret_lines, run_secret_lines
from streamops.settings.tables import NotifyLevel, NotifyTable

if TYPE_CHECKING:
    from apprise import Apprise, AppriseAsset

JOINER: Final = "\u2060"
"""Shows as nothing, and parts what would be a mention or a link."""

AS_DATA: Final = frozenset({"amqp", "custom_form", "custom_json", "custom_xml", "mqtt", "rsyslog", "syslog"})
"""Modules of apprise whose services are programs: they get the message as it is."""

_CALLS: Final = re.compile(r"@|<(?=[!@#&:/\w])|\](?=\()")
_LINKS: Final = re.compile(
    # A server's own address is no link, and may be copied.
    r"(?<!\bredis)(?<!\brediss)(?<!\bunix):(?=//)|(?<!\w)(?:mailto|tel|www)(?=[:.])",
    re.IGNORECASE,
)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}(?=://)")
_SEPARATORS: Final = re.compile(r"[/:@?&=#,;\s]+")
_SHORTEST_MASKED: Final = 3
_REASON_WIDTH: Final = 300


URLS_HINT: Final = (
    'Under [notify] state urls_file = "notify.urls"; write addresses of apprise into it, one a line.'
)

_LEAST: Final = re.compile(r"(warn|critical)\s*=\s*(?=\S)")
_HEALTH: Final = {NotifyLevel.WARN: Health.WARN, NotifyLevel.CRITICAL: Health.CRITICAL}


class NotifyAddress(Struct, frozen=True):
    """One address.

    Attributes:
        url: It, in apprise's words.
        least: What never was as bad as that does not go there.
        origin: Where it stands, without it.
    """

    url: Secret
    least: Health
    origin: str


class NotifySettings(Struct, frozen=True):
    """Which notices are sent, and where.

    Attributes:
        table: When, as configured.
        least: The least severity that is sent.
        addresses: The addresses that get them.
    """

    table: NotifyTable
    least: Health
    addresses: tuple[NotifyAddress, ...]


def load_notify(settings: Settings) -> NotifySettings:
    """What ``[notify]`` says, its addresses read.

    Raises:
        SettingsError: There are no addresses, or they cannot be read.
    """
    table = settings.tables.notify
    if table.urls_file is None and table.urls_command is None:
        raise SettingsError("notify: there are no addresses to send to", URLS_HINT)
    key = "notify.urls_command" if table.urls_file is None else "notify.urls_file"
    where = f"{settings.origins[key]}: {key}"
    with located(where):
        if table.urls_file is None:
            lines = run_secret_lines(table.urls_command or "")
        else:
            lines = read_secret_lines(Path(table.urls_file))
    addresses = tuple(_addresses(lines, where))
    if not addresses:
        raise SettingsError(f"{where}: holds no address", URLS_HINT)
    return NotifySettings(table, _HEALTH[table.level], addresses)


def _addresses(lines: Iterable[str], where: str) -> Iterator[NotifyAddress]:
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        least = _LEAST.match(text)
        level = NotifyLevel(least[1]) if least else NotifyLevel.WARN
        url = text[least.end() :] if least else text
        yield NotifyAddress(Secret(url), _HEALTH[level], f"{where}: line {number}")


class Outlet:
    """One address.

    Attributes:
        label: Which it is, by number and service, without its address.
        least: What never was as bad as that does not go there.
    """

    def __init__(self, label: str, least: Health, service: "Apprise", address: NotifyAddress) -> None:
        self.label = label
        self.least = least
        self._service = service
        self._address = address
        (plugin,) = service
        self._kind = type(plugin).__module__.removeprefix("apprise.plugins.").partition(".")[0]

    def send(self, message: Notification) -> str:
        """Send a message and wait for it; the reason if it was not sent, else empty. Runs in a thread of its own."""
        import apprise  # noqa: PLC0415 - only --notify needs it

        kinds = {Health.CRITICAL: apprise.NotifyType.FAILURE, Health.WARN: apprise.NotifyType.WARNING}
        try:
            result = self._service.notify(
                title=self._shown(message.title),
                body=self._shown(message.body),
                notify_type=kinds.get(message.level, apprise.NotifyType.SUCCESS),
                body_format=apprise.NotifyFormat.TEXT,
                interpret_escapes=False,
            )
        except Exception as error:  # noqa: BLE001 - any error of a service's module is a failure to send
            return self._masked(f"{type(error).__name__}: {error}")
        if result:
            return ""
        said = [line.message for one in result for attempt in one.attempts for line in attempt.logs]
        return self._masked(said[-1]) if said else "the service did not accept it"

    def _shown(self, text: str) -> str:
        """A text as the service shows it to people; names in it mention no user and make no link."""
        if self._kind in AS_DATA:
            return text
        return inert(text, mentions=self._kind != "email")

    def _masked(self, reason: str) -> str:
        return shorten(safe(mask(reason, self._address.url.reveal())), _REASON_WIDTH)


def open_outlets(addresses: Iterable[NotifyAddress]) -> tuple[Outlet, ...]:
    """Get ready to send to these addresses; nothing is sent yet.

    Raises:
        SettingsError: Apprise is not installed, or does not know what an address means.
    """
    try:
        import apprise  # noqa: PLC0415 - as above
    except ImportError:
        raise SettingsError(
            "notify: apprise is not installed", "Install it: pip install 'streamops[notify]'"
        ) from None
    _quieten()
    asset = apprise.AppriseAsset(
        app_id="streamops",
        app_desc="streamops",
        app_url="",
        async_mode=False,
        interpret_emojis=False,
        # Apprise would wait in threads that nothing can cut off, and that the end of the process waits for.
        service_timeout=0,
    )
    return tuple(_open(address, number, asset) for number, address in enumerate(addresses, start=1))


def inert(text: str, *, mentions: bool = True) -> str:
    """The text with its links and its mentions of chat users broken."""
    text = _CALLS.sub(rf"\g<0>{JOINER}", text) if mentions else text
    return _LINKS.sub(rf"\g<0>{JOINER}", text)


def mask(text: str, url: str) -> str:
    """The text, with ``***`` for every part of the address but its scheme."""
    rest = _SCHEME.sub("", url, count=1)
    written = _SEPARATORS.split(rest)
    parts = {*written, *map(unquote, written), *_SEPARATORS.split(unquote(rest))}
    for part in sorted(parts, key=len, reverse=True):
        if len(part) >= _SHORTEST_MASKED:
            text = re.sub(rf"(?<!\w){re.escape(part)}(?!\w)", "***", text, flags=re.IGNORECASE)
    return text


def _open(address: NotifyAddress, number: int, asset: "AppriseAsset") -> Outlet:
    import apprise  # noqa: PLC0415 - as above

    url = address.url.reveal()
    service = apprise.Apprise(asset=asset)
    try:
        known = service.add(_split(url)) and len(service) == 1
    except Exception:  # noqa: BLE001 - what a service's module raises may hold the address, and is one it cannot read
        known = False
    if not known:
        scheme = _SCHEME.match(url)
        named = f" {scheme[0]}://" if scheme else ""
        raise SettingsError(
            f"{address.origin}: apprise cannot use this{named} address",
            "See https://appriseit.com for how each service is written; some need further packages.",
        )
    return Outlet(f"target {number} ({safe(str(service[0].service_name))})", address.least, service, address)


def _split(url: str) -> str:
    """An address that says nothing else has texts that are too long for its service split, not refused."""
    return url if "overflow=" in url else f"{url}{'&' if '?' in url else '?'}overflow=split"


def _quieten() -> None:
    """Apprise's own log lines name addresses; what matters of them is in the result of each call."""
    log = logging.getLogger("apprise")
    log.propagate = False
    log.addHandler(logging.NullHandler())
