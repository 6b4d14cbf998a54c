"""Connections as URLs: one grammar for flags, the environment and configuration files.

::

    redis://[USER][:PASSWORD]@HOST[:PORT][/DB]                          one server
    redis+sentinel://[USER][:PASSWORD]@HOST[:PORT],.../SERVICE[/DB]     the primary that these Sentinels name
    redis+cluster://[USER][:PASSWORD]@HOST[:PORT],...                   the cluster that these nodes belong to
    unix://[USER][:PASSWORD]@/PATH                                      one server on a unix socket

User, password and the @ may be left out. ``rediss`` in place of ``redis`` speaks TLS; ``valkey`` and
``valkeys`` mean the same as these two; ``redis+unix`` is ``unix``. IPv6 addresses stand in brackets.
Characters that mean something in a URL are percent-encoded. A ``?`` may add the keys of ``url_query``.
"""

import re
from ipaddress import IPv6Address
from typing import Final, NamedTuple
from urllib.parse import quote

from msgspec.structs import replace

from streamops.errors import known_hint
from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.url_query import (
    ENCODE_HINT,
    HOST,
    Query,
    decode_database,
    decode_printable,
    decode_query,
    decode_text,
    url_error,
)

MAX_PORT: Final = 65535
PORT: Final = 6379
SENTINEL_PORT: Final = 26379

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
    query = decode_query(parts.query)
    mode = _decode_mode(parts.scheme, query)
    if mode is Mode.STANDALONE and len(addresses) > 1:
        raise url_error("several hosts, but the scheme of one", "Use redis+sentinel:// or redis+cluster://.")
    if query.sentinel_username and mode is not Mode.SENTINEL:
        raise url_error("a sentinel_username, but names no Sentinels", _SENTINEL_HINT)
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
        timeout=query.timeout or _DEFAULTS.timeout,
        client_name=query.client_name or _DEFAULTS.client_name,
    )
    return replace(options, label=_render_label(options, "valkey" if "valkey" in parts.name else "redis"))


def _split(url: str) -> _Parts:
    if not url.isprintable():
        raise url_error("a character that does not print", ENCODE_HINT)
    name, separator, rest = url.partition("://")
    name = name.lower()
    if not separator:
        raise url_error("no scheme")
    if name not in SCHEMES:
        raise url_error("an unknown scheme", known_hint(name, SCHEMES, "schemes"))
    end = min((rest.index(mark) for mark in "/?#" if mark in rest), default=len(rest))
    authority, rest = rest[:end], rest[end:]
    if "@" in rest:
        raise url_error("an @ after a /, ? or #, so something is not percent-encoded", ENCODE_HINT)
    if "#" in rest:
        raise url_error("a # in it, which means nothing here", ENCODE_HINT)
    path, _, query = rest.partition("?")
    userinfo, _, hosts = authority.rpartition("@")
    return _Parts(name, SCHEMES[name], userinfo, hosts, path, query)


def _decode_userinfo(userinfo: str) -> tuple[str | None, Secret | None]:
    user, _, password = userinfo.partition(":")
    username = decode_printable(user, "user")
    return username or None, Secret(decode_text(password, "password")) if password else None


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
        raise url_error(f"nothing where {which} should be")
    if ":" in port:
        raise url_error(f"too many colons in {which}", f"Write an IPv6 address in brackets. {ENCODE_HINT}")
    if not HOST.fullmatch(host):
        raise url_error(f"no name and no address where {which} should be", ENCODE_HINT)
    return host, _decode_port(colon + port, which) if colon else default_port


def _decode_ipv6(text: str, which: str) -> str:
    try:
        return str(IPv6Address(decode_printable(text, "host")))
    except ValueError:
        pass
    # Outside the handler, so that the error does not carry the text along as its context.
    raise url_error(f"brackets, but no IPv6 address where {which} should be", "Write redis://[::1]:6379/0.")


def _decode_port(text: str, which: str) -> int:
    if re.fullmatch(r":[0-9]{1,5}", text) and 0 < int(text[1:]) <= MAX_PORT:
        return int(text[1:])
    raise url_error(f"a bad port after {which}: not a number from 1 to {MAX_PORT}")


def _decode_mode(scheme: Scheme, query: Query) -> Mode:
    if query.cluster is None:
        return scheme.mode
    if query.cluster and not scheme.socket and scheme.mode is not Mode.SENTINEL:
        return Mode.CLUSTER
    if query.cluster or scheme.mode is Mode.CLUSTER:
        raise url_error("a cluster key against its scheme", "Write redis+cluster://HOST:PORT.")
    return scheme.mode


def _decode_path(parts: _Parts, mode: Mode, query: Query) -> tuple[str | None, int]:
    """The Sentinel service and the database number."""
    service, text = None, "" if parts.scheme.socket else parts.path.removeprefix("/")
    if mode is Mode.SENTINEL:
        service, _, text = text.partition("/")
        if not _SERVICE.fullmatch(service):
            raise url_error("no name of a Sentinel service in its path", _SENTINEL_HINT)
    database = decode_database(text) if text else query.db or 0
    if query.db not in {None, database}:
        raise url_error("two database numbers, in its path and in its query", "Keep one of them.")
    if database and mode is Mode.CLUSTER:
        raise url_error("a database number, but a cluster has database 0 only", "Leave the number out.")
    return service, database


def _decode_socket_path(parts: _Parts) -> str:
    if parts.hosts:
        raise url_error("a host before the path of its socket", _SOCKET_HINT)
    path = decode_printable(parts.path, "path")
    if not path.strip("/"):
        raise url_error("no path of a socket", _SOCKET_HINT)
    return path


def _compose_tls(scheme: Scheme, query: Query) -> Tls | None:
    if not scheme.tls:
        if query.tls_key:
            raise url_error(f"the key {query.tls_key} in its query, but speaks no TLS", "Use rediss://.")
        return None
    if query.key and not query.cert:
        raise url_error("a key without its cert in its query", "Add cert=FILE.")
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
