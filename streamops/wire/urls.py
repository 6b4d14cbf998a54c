"""Connections as URLs: one grammar for flags, the environment and configuration files.

::

    redis://[USER][:PASSWORD]@HOST[:PORT][/DB]                          one server
    redis+sentinel://[USER][:PASSWORD]@HOST[:PORT],.../SERVICE[/DB]     the primary that these Sentinels name
    redis+cluster://[USER][:PASSWORD]@HOST[:PORT],...                   the cluster that these nodes belong to
    unix://[USER][:PASSWORD]@/PATH                                      one server on a unix socket

User, password and the @ may be left out. ``rediss`` in place of ``redis`` speaks TLS; ``valkey`` and
``valkeys`` mean the same as these two; ``redis+unix`` is ``unix``. IPv6 addresses stand in brackets.
Characters that mean something in a URL are percent-encoded. A ``?`` may add the keys of ``QUERY_KEYS``.

Errors repeat nothing of the URL but the name of a query key: with one character that is not percent-encoded, a part of
the password stands in place of a port or a path.
"""

import re
from contextlib import suppress
from datetime import timedelta
from ipaddress import IPv6Address
from typing import Annotated, Final, NamedTuple, get_type_hints
from urllib.parse import quote, unquote

from msgspec import Meta, Struct, ValidationError, convert
from msgspec.structs import replace

from streamops.errors import SettingsError, known_hint
from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions, Secret, Tls

MAX_PORT: Final = 65535
PORT: Final = 6379
SENTINEL_PORT: Final = 26379
LONGEST_KEY: Final = 40
MAX_DATABASE: Final = 2**31 - 1
MAX_TIMEOUT: Final = timedelta(hours=1)
HOST: Final = re.compile(r"(?=.{1,253}\Z)[\w-]{1,63}(\.[\w-]{1,63})*\.?", re.ASCII)
FORM_HINT: Final = "Write redis://USER:PASSWORD@HOST:PORT/DB; all but the host may be left out."
ENCODE_HINT: Final = "Percent-encode what is special in a URL, in a password too: @ is %40, : is %3A, / is %2F, ? is %3F, # is %23."

_DEFAULTS: Final = ConnectionOptions()
_SERVICE: Final = re.compile(r"[\w.-]+", re.ASCII)
_SENTINEL_HINT: Final = "Write redis+sentinel://HOST:26379,HOST:26379/SERVICE/DB."
_SOCKET_HINT: Final = "Write unix:///run/redis/redis.sock, or unix://USER:PASSWORD@/run/redis/redis.sock."


class Scheme(NamedTuple):
    """What the part of a URL before ``://`` says.

    Attributes:
        mode: How the servers are arranged.
        tls: Whether they speak TLS.
        socket: Whether a path of a unix socket stands in place of hosts.
    """

    mode: Mode = Mode.STANDALONE
    tls: bool = False
    socket: bool = False


_REDIS_SCHEMES: Final = {
    "redis": Scheme(),
    "rediss": Scheme(tls=True),
    "redis+sentinel": Scheme(Mode.SENTINEL),
    "rediss+sentinel": Scheme(Mode.SENTINEL, tls=True),
    "redis+cluster": Scheme(Mode.CLUSTER),
    "rediss+cluster": Scheme(Mode.CLUSTER, tls=True),
    "redis+unix": Scheme(socket=True),
}
SCHEMES: Final = {
    **_REDIS_SCHEMES,
    **{name.replace("redis", "valkey"): scheme for name, scheme in _REDIS_SCHEMES.items()},
    "unix": Scheme(socket=True),
}
"""Every scheme, by its name in lower case."""


class Query(Struct, frozen=True):
    """The part of a URL after the ``?``. A password has no key: queries end up in logs."""

    db: (
        Annotated[
            int,
            Meta(ge=0, le=MAX_DATABASE, description="database number, where it does not stand in the path"),
        ]
        | None
    ) = None
    cluster: Annotated[bool, Meta(description="true: the server is a node of a cluster")] | None = None
    ca: Annotated[str, Meta(min_length=1, description="PEM file of the authorities to trust")] | None = None
    cert: Annotated[str, Meta(min_length=1, description="PEM file of the client's certificate")] | None = None
    key: Annotated[str, Meta(min_length=1, description="PEM file of its key")] | None = None
    sni: (
        Annotated[
            str,
            Meta(
                pattern=rf"^(?a:{HOST.pattern})\Z",
                description="name to ask for and to check the server's certificate against",
            ),
        ]
        | None
    ) = None
    verify: Annotated[bool, Meta(description="false: do not check the server's certificate")] | None = None
    timeout: (
        Annotated[
            float,
            Meta(
                ge=1e-6,
                le=MAX_TIMEOUT.total_seconds(),
                description="seconds to wait for a connection or a reply, above 0 and up to 3600",
            ),
        ]
        | None
    ) = None
    client_name: (
        Annotated[
            str,
            Meta(pattern=r"^[!-~]{1,256}\Z", description="what CLIENT LIST shows, in ASCII without spaces"),
        ]
        | None
    ) = None
    sentinel_username: (
        Annotated[
            str,
            Meta(
                min_length=1,
                description="ACL user on the Sentinels themselves; their password comes from a context",
            ),
        ]
        | None
    ) = None

    @property
    def tls_key(self) -> str | None:
        """The first stated key that means TLS."""
        return next(
            (key for key in ("ca", "cert", "key", "sni", "verify") if getattr(self, key) is not None), None
        )


QUERY_KEYS: Final[dict[str, str]] = {
    key: hint.__args__[0].__metadata__[0].description
    for key, hint in get_type_hints(Query, include_extras=True).items()
}
"""Every query key, and what it says."""

_SECRET_KEYS: Final = frozenset({"password", "sentinel_password"})
_TRUTH_KEYS: Final = frozenset({"cluster", "verify"})
_TRUTH: Final = {"yes": "true", "no": "false"}


class _Parts(NamedTuple):
    name: str
    scheme: Scheme
    userinfo: str
    hosts: str
    path: str
    query: str


def parse_url(url: str) -> ConnectionOptions:
    """Read a connection URL.

    Args:
        url: The URL; white space around it is dropped.

    Returns:
        The options it states, defaults for the rest; names of files are as written.

    Raises:
        SettingsError: It is not such a URL. The error holds nothing of the user and the password.
    """
    parts = _split(url.strip())
    username, password = _decode_userinfo(parts.userinfo)
    # The hosts before the query: where they are wrong, a part of a password may stand where the keys should.
    addresses = () if parts.scheme.socket else _decode_addresses(parts)
    socket_path = _decode_socket_path(parts) if parts.scheme.socket else None
    query = _decode_query(parts.query)
    mode = _decode_mode(parts.scheme, query)
    if mode is Mode.STANDALONE and len(addresses) > 1:
        raise _url_error("several hosts, but the scheme of one", "Use redis+sentinel:// or redis+cluster://.")
    if query.sentinel_username and mode is not Mode.SENTINEL:
        raise _url_error("a sentinel_username, but names no Sentinels", _SENTINEL_HINT)
    service, database = _decode_path(parts, mode, query)
    options = ConnectionOptions(
        mode=mode,
        addresses=addresses,
        socket_path=socket_path,
        database=database,
        username=username,
        password=password,
        tls=_compose_tls(parts.scheme, query),
        sentinel_service=service,
        sentinel_username=query.sentinel_username,
        timeout=timedelta(seconds=query.timeout) if query.timeout else _DEFAULTS.timeout,
        client_name=query.client_name or _DEFAULTS.client_name,
    )
    return replace(options, label=_render_label(options, "valkey" if "valkey" in parts.name else "redis"))


def _split(url: str) -> _Parts:
    if not url.isprintable():
        raise _url_error("a character that does not print", ENCODE_HINT)
    name, separator, rest = url.partition("://")
    name = name.lower()
    if not separator:
        raise _url_error("no scheme")
    if name not in SCHEMES:
        raise _url_error("an unknown scheme", known_hint(name, SCHEMES, "schemes"))
    end = min((rest.index(mark) for mark in "/?#" if mark in rest), default=len(rest))
    authority, rest = rest[:end], rest[end:]
    if "@" in rest:
        raise _url_error("an @ after a /, ? or #, so something is not percent-encoded", ENCODE_HINT)
    if "#" in rest:
        raise _url_error("a # in it, which means nothing here", ENCODE_HINT)
    path, _, query = rest.partition("?")
    userinfo, _, hosts = authority.rpartition("@")
    return _Parts(name, SCHEMES[name], userinfo, hosts, path, query)


def _decode_userinfo(userinfo: str) -> tuple[str | None, Secret | None]:
    user, _, password = userinfo.partition(":")
    username = _decode_printable(user, "user")
    return username or None, Secret(_decode_text(password, "password")) if password else None


def _decode_addresses(parts: _Parts) -> tuple[tuple[str, int], ...]:
    port = SENTINEL_PORT if parts.scheme.mode is Mode.SENTINEL else PORT
    hosts = parts.hosts.split(",")
    if len(hosts) == 1:
        return (_decode_address(parts.hosts, port, "the host"),)
    return tuple(_decode_address(text, port, f"host {number}") for number, text in enumerate(hosts, 1))


def _decode_address(text: str, default_port: int, which: str) -> tuple[str, int]:
    if text.startswith("["):
        inner, _, rest = text[1:].partition("]")
        return _decode_ipv6(inner, which), _decode_port(rest, which) if rest else default_port
    host, colon, port = text.partition(":")
    if not host:
        raise _url_error(f"nothing where {which} should be")
    if ":" in port:
        raise _url_error(f"too many colons in {which}", f"Write an IPv6 address in brackets. {ENCODE_HINT}")
    if not HOST.fullmatch(host):
        raise _url_error(f"no name and no address where {which} should be", ENCODE_HINT)
    return host, _decode_port(colon + port, which) if colon else default_port


def _decode_ipv6(text: str, which: str) -> str:
    try:
        return str(IPv6Address(_decode_printable(text, "host")))
    except ValueError:
        pass
    # Outside the handler, so that the error does not carry the text along as its context.
    raise _url_error(f"brackets, but no IPv6 address where {which} should be", "Write redis://[::1]:6379/0.")


def _decode_port(text: str, which: str) -> int:
    if re.fullmatch(r":[0-9]{1,5}", text) and 0 < int(text[1:]) <= MAX_PORT:
        return int(text[1:])
    raise _url_error(f"a bad port after {which}: not a number from 1 to {MAX_PORT}")


def _decode_mode(scheme: Scheme, query: Query) -> Mode:
    if query.cluster is None:
        return scheme.mode
    if query.cluster and not scheme.socket and scheme.mode is not Mode.SENTINEL:
        return Mode.CLUSTER
    if query.cluster or scheme.mode is Mode.CLUSTER:
        raise _url_error("a cluster key against its scheme", "Write redis+cluster://HOST:PORT.")
    return scheme.mode


def _decode_path(parts: _Parts, mode: Mode, query: Query) -> tuple[str | None, int]:
    """The Sentinel service and the database number."""
    service, text = None, "" if parts.scheme.socket else parts.path.removeprefix("/")
    if mode is Mode.SENTINEL:
        service, _, text = text.partition("/")
        if not _SERVICE.fullmatch(service):
            raise _url_error("no name of a Sentinel service in its path", _SENTINEL_HINT)
    database = (_convert("db", text).db if text else query.db) or 0
    if query.db not in {None, database}:
        raise _url_error("two database numbers, in its path and in its query", "Keep one of them.")
    if database and mode is Mode.CLUSTER:
        raise _url_error("a database number, but a cluster has database 0 only", "Leave the number out.")
    return service, database


def _decode_query(text: str) -> Query:
    values: dict[str, object] = {}
    for item in filter(None, text.split("&")):
        key, _, value = item.partition("=")
        if key in _SECRET_KEYS:
            hint = "A query ends up in logs: write redis://USER:PASSWORD@HOST, or name a file in a context."
            raise _url_error(f"a {key} in its query", hint)
        if key not in QUERY_KEYS:
            raise _url_error(
                f"an unknown key {key[:LONGEST_KEY]!r} in its query", known_hint(key, QUERY_KEYS)
            )
        if key in values:
            raise _url_error(f"the key {key} twice in its query", "Keep one of them.")
        values[key] = getattr(_convert(key, _decode_printable(value, key)), key)
    return convert(values, Query)


def _convert(key: str, text: str) -> Query:
    """Return a query of this key alone, its value checked."""
    value: str | int | None = text
    if key == "db":
        # msgspec would take "1e1" for 10, and refuse "01".
        value = int(text) if re.fullmatch(r"[0-9]{1,10}", text) else None
    elif key in _TRUTH_KEYS:
        value = _TRUTH.get(text.lower(), text)
    with suppress(ValidationError):
        query = convert({key: value}, Query, strict=False)
        # Text such as "null" converts to None.
        if getattr(query, key) is not None:
            return query
    # Outside the handler, so that the error does not carry the text along as its context.
    if key == "db":
        raise _url_error("a database that is not a number", "Write redis://HOST:PORT/0, or ?db=0.")
    raise _url_error(f"no usable value for the key {key}", f"{key}: {QUERY_KEYS[key]}.")


def _decode_socket_path(parts: _Parts) -> str:
    if parts.hosts:
        raise _url_error("a host before the path of its socket", _SOCKET_HINT)
    path = _decode_printable(parts.path, "path")
    if not path.strip("/"):
        raise _url_error("no path of a socket", _SOCKET_HINT)
    return path


def _compose_tls(scheme: Scheme, query: Query) -> Tls | None:
    if not scheme.tls:
        if query.tls_key:
            raise _url_error(f"the key {query.tls_key} in its query, but speaks no TLS", "Use rediss://.")
        return None
    if query.key and not query.cert:
        raise _url_error("a key without its cert in its query", "Add cert=FILE.")
    return Tls(
        ca_file=query.ca,
        certificate_file=query.cert,
        key_file=query.key,
        server_name=query.sni,
        verify=query.verify is not False,
    )


def _render_label(options: ConnectionOptions, word: str) -> str:
    """The URL of the same servers, complete and in one spelling, without user, secrets and query."""
    if options.socket_path is not None:
        suffix = f"?db={options.database}" if options.database else ""
        return f"unix://{quote(options.socket_path)}{suffix}"
    name = word + ("s" if options.tls else "")
    hosts = ",".join(_render_address(host, port) for host, port in options.addresses)
    match options.mode:
        case Mode.STANDALONE:
            return f"{name}://{hosts}/{options.database}"
        case Mode.SENTINEL:
            return f"{name}+sentinel://{hosts}/{options.sentinel_service}/{options.database}"
        case Mode.CLUSTER:
            return f"{name}+cluster://{hosts}"


def _render_address(host: str, port: int) -> str:
    return f"[{quote(host, safe=':')}]:{port}" if ":" in host else f"{host}:{port}"


def _decode_text(text: str, what: str) -> str:
    with suppress(UnicodeDecodeError):
        return unquote(text, errors="strict")
    # Outside the handler, so that the error does not carry the text along as its context.
    raise _url_error(f"a {what} that is not UTF-8 once percent-decoded", "Percent-encode its UTF-8 bytes.")


def _decode_printable(text: str, what: str) -> str:
    decoded = _decode_text(text, what)
    if not decoded.isprintable():
        raise _url_error(f"a character that does not print in its {what}", ENCODE_HINT)
    return decoded


def _url_error(problem: str, hint: str = FORM_HINT) -> SettingsError:
    return SettingsError(f"the URL has {problem}", hint)
