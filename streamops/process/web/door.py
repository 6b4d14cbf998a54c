"""What a web-config file asks of clients, read again whenever it or a file that it names has changed."""

import ssl
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct

from streamops.errors import SettingsError
from streamops.process.web.marks import Mark, marks_of
from streamops.process.web.passwords import Passwords
from streamops.process.web.tls import server_context, tls_files, tls_warnings
from streamops.process.web.web_config import WebConfig, read_web_config

LOG: Final = structlog.get_logger("streamops.web")


class Bucket:
    """Lets requests through: one every so often, and some at once after a pause."""

    def __init__(self, every: float, burst: int) -> None:
        self._every = every
        self._burst = burst
        self._tokens = float(burst)
        self._at = 0.0

    def take(self, now: float) -> bool:
        """Whether one more may pass at a moment, in seconds of a clock that never goes back."""
        self._tokens = min(self._burst, self._tokens + (now - self._at) / self._every)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True


class Rules(Struct, frozen=True):
    """What is in force.

    Attributes:
        tls: What to speak TLS with; none for plain HTTP.
        passwords: Who is let in.
        headers: What every answer carries.
        allowed_names: Names one of which a client's certificate must have; none at all for any.
        bucket: How many requests are taken; none for all of them.
    """

    tls: ssl.SSLContext | None
    passwords: Passwords
    headers: dict[str, str]
    allowed_names: tuple[str, ...] = ()
    bucket: Bucket | None = None


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
        rules = _rules(config, path)
        _warn(config)
        return rules


def _rules(config: WebConfig, path: Path | None) -> Rules:
    tls = config.tls_server_config
    limit = config.rate_limit
    return Rules(
        tls=server_context(tls, path.parent, str(path)) if tls and path else None,
        passwords=Passwords(config.users),
        headers=config.headers,
        allowed_names=tls.client_allowed_sans if tls else (),
        bucket=Bucket(limit.every.total_seconds(), limit.burst) if limit and limit.every else None,
    )


def _warn(config: WebConfig) -> None:
    warnings = list(tls_warnings(config.tls_server_config)) if config.tls_server_config else []
    if config.http_server_config and config.http_server_config.http2:
        warnings.append("http2: HTTP/1.1 is spoken alone")
    for warning in warnings:
        LOG.warning("web-config in part", problem=warning)
