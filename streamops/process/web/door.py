"""What a web-config file asks of clients, read again whenever it or a file that it names has changed."""

import ssl
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.process.web.marks import Mark, marks_of
from streamops.process.web.passwords import Passwords
from streamops.process.web.tls import server_context, tls_files
from streamops.process.web.web_config import WebConfig, read_web_config

LOG: Final = structlog.get_logger("streamops.web")


class Rules(Struct, frozen=True):
    """What is in force.

    Attributes:
        tls: What to speak TLS with; none for plain HTTP.
        passwords: Who is let in.
    """

    tls: ssl.SSLContext | None
    passwords: Passwords


class Door:
    """Knows the rules that are in force.

    Args:
        path: The web-config file; none asks nothing of anybody.

    Raises:
        SettingsError: The file, or one that it names, cannot be read or understood.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._marks: dict[Path, Mark | None] = {}
        self._rules = self._read() if path else _rules(WebConfig(), None)

    def rules(self) -> Rules:
        """The rules now: those of the files as they are, or the last good ones, which the log says once."""
        if self._path is not None and self._marks != marks_of(self._marks):
            try:
                self._rules = self._read()
            except SettingsError as error:
                LOG.error("web-config not taken, the one before stays in force", problem=error.message)  # noqa: TRY400 - for people
            else:
                LOG.info("web-config read again", file=str(self._path))
        return self._rules

    def _read(self) -> Rules:
        path = self._path or Path()
        # Looked at before they are read: what changes meanwhile is then seen the next time. Those that a file names
        # stay watched where the file itself cannot be understood.
        self._marks = marks_of([path, *self._marks])
        config = read_web_config(path)
        named = tls_files(config.tls_server_config, path.parent) if config.tls_server_config else ()
        self._marks = {path: self._marks[path], **marks_of(named)}
        return _rules(config, path)


def _rules(config: WebConfig, path: Path | None) -> Rules:
    tls = config.tls_server_config
    return Rules(
        server_context(tls, path.parent, str(path)) if tls and path else None, Passwords(config.users)
    )
