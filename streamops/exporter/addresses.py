"""``[notify]``: who is told of what is found, by mail, chat or webhook; the addresses hold secrets."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from streamops.errors import SettingsError
from streamops.model.observation import Health
from streamops.model.secret import Secret
from streamops.settings.connections import located
from streamops.settings.load import Settings
from streamops.settings.secrets import read_secret_lines, run_secret_lines
from streamops.settings.tables import NotifyLevel, NotifyTable

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
    """Who is told of what.

    Attributes:
        table: When, as configured.
        least: The least that is told.
        addresses: To whom.
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
