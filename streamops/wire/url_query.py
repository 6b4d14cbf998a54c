"""The part of a connection URL after the ``?``: a closed table of keys, each read into its type.

No error repeats any of the text but the name of a key: one character that is not percent-encoded, and a
part of the password stands where a port or a path should.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from urllib.parse import unquote

from msgspec import Struct, convert

from streamops.errors import SettingsError, known_hint

QUERY_KEYS: Final = {
    "db": "database number, where it does not stand in the path",
    "cluster": "true: the server is a node of a cluster",
    "ca": "PEM file of the authorities to trust",
    "cert": "PEM file of the client's certificate",
    "key": "PEM file of its key",
    "sni": "name to ask for and to check the server's certificate against",
    "verify": "false: do not check the server's certificate",
    "timeout": "seconds to wait for a connection or a reply, above 0 and up to 3600",
    "client_name": "what CLIENT LIST shows, in ASCII without spaces",
    "sentinel_username": "ACL user on the Sentinels themselves; their password comes from a context",
}
"""Every key, and what it says. Passwords are none of them, since queries end up in logs."""

LONGEST_KEY: Final = 40
MAX_DATABASE: Final = 2**31 - 1
MAX_TIMEOUT: Final = timedelta(hours=1)
HOST: Final = re.compile(r"(?=.{1,253}\Z)[\w-]{1,63}(\.[\w-]{1,63})*\.?", re.ASCII)
FORM_HINT: Final = "Write redis://USER:PASSWORD@HOST:PORT/DB; all but the host may be left out."
ENCODE_HINT: Final = "Percent-encode what is special in a URL, in a password too: @ is %40, : is %3A, / is %2F, ? is %3F, # is %23."

_SECRET_KEYS: Final = frozenset({"password", "sentinel_password"})
_TRUTH: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_CLIENT_NAME: Final = re.compile(r"[!-~]{1,256}")
_SECONDS: Final = re.compile(r"[0-9]{1,5}(\.[0-9]{1,6})?")


class Query(Struct, frozen=True):
    """What a query states, by ``QUERY_KEYS``; none where it is silent."""

    db: int | None = None
    cluster: bool | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    sni: str | None = None
    verify: bool | None = None
    timeout: timedelta | None = None
    client_name: str | None = None
    sentinel_username: str | None = None

    @property
    def tls_key(self) -> str | None:
        """One of the keys that mean TLS, where any is stated."""
        return next(
            (key for key in ("ca", "cert", "key", "sni", "verify") if getattr(self, key) is not None), None
        )


def url_error(problem: str, hint: str = FORM_HINT) -> SettingsError:
    """The error that says what the URL has, but should not."""
    return SettingsError(f"the URL has {problem}", hint)


def decode_text(text: str, what: str) -> str:
    """Percent-decode.

    Raises:
        SettingsError: The bytes are not UTF-8.
    """
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        pass
    # Outside the handler, so that the error does not carry the text along as its context.
    raise url_error(f"a {what} that is not UTF-8 once percent-decoded", "Percent-encode its UTF-8 bytes.")


def decode_printable(text: str, what: str) -> str:
    """Percent-decode what may be shown later.

    Raises:
        SettingsError: The bytes are not UTF-8, or hold a character that does not print.
    """
    decoded = decode_text(text, what)
    if not decoded.isprintable():
        raise url_error(f"a character that does not print in its {what}", ENCODE_HINT)
    return decoded


def decode_database(text: str) -> int:
    """Read a database number.

    Raises:
        SettingsError: It is none.
    """
    if re.fullmatch(r"[0-9]{1,10}", text) and int(text) <= MAX_DATABASE:
        return int(text)
    raise url_error("a database that is not a number", "Write redis://HOST:PORT/0, or ?db=0.")


def decode_query(text: str) -> Query:
    """Read a query.

    Raises:
        SettingsError: A key is unknown, stated twice, without value, or has a value of another kind.
    """
    values: dict[str, object] = {}
    for item in filter(None, text.split("&")):
        key, _, value = item.partition("=")
        _check_key(key)
        if key in values:
            raise url_error(f"the key {key} twice in its query", "Keep one of them.")
        values[key] = _DECODERS.get(key, str)(decode_printable(value, key))
        if values[key] in {None, ""}:
            raise url_error(f"no usable value for the key {key}", f"{key}: {QUERY_KEYS[key]}.")
    return convert(values, Query)


def _check_key(key: str) -> None:
    if key in _SECRET_KEYS:
        hint = "A query ends up in logs: write redis://USER:PASSWORD@HOST, or name a file in a context."
        raise url_error(f"a {key} in its query", hint)
    if key not in QUERY_KEYS:
        raise url_error(f"an unknown key {key[:LONGEST_KEY]!r} in its query", known_hint(key, QUERY_KEYS))


def _decode_truth(text: str) -> bool | None:
    return _TRUTH.get(text.lower())


def _decode_host(text: str) -> str | None:
    return text if HOST.fullmatch(text) else None


def _decode_client_name(text: str) -> str | None:
    return text if _CLIENT_NAME.fullmatch(text) else None


def _decode_seconds(text: str) -> timedelta | None:
    if not _SECONDS.fullmatch(text):
        return None
    span = timedelta(seconds=float(text))
    return span if timedelta(0) < span <= MAX_TIMEOUT else None


_DECODERS: Final[dict[str, Callable[[str], object]]] = {
    "db": decode_database,
    "cluster": _decode_truth,
    "verify": _decode_truth,
    "sni": _decode_host,
    "timeout": _decode_seconds,
    "client_name": _decode_client_name,
}
