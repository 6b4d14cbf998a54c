"""Contexts, choosing one, and a context or a URL as the options of a connection, passwords included."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.streams import Mode
from streamops.settings.decoding import join_key
from streamops.settings.secrets import read_password_file, run_password_command, split_command
from streamops.settings.state import resolve_path
from streamops.settings.tables import ContextTable
from streamops.wire.options import ConnectionOptions, Secret, Tls
from streamops.wire.urls import HOST, MAX_TIMEOUT, parse_url

T = TypeVar("T")


class Context(Struct, frozen=True):
    """A context and the file it stands in.

    Attributes:
        name: Its name.
        table: Its values.
        stated: The keys that it states; the other values are defaults.
        file: The configuration file.
    """

    name: str
    table: ContextTable
    stated: frozenset[str]
    file: Path

    @property
    def where(self) -> str:
        """File and table, for errors."""
        return f"{self.file}: {join_key('contexts', self.name)}"


@contextmanager
def located(where: str) -> Iterator[None]:
    """Say in a SettingsError where the faulty setting stands."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(f"{where}: {error.message}", error.hint) from None


def compose_url(url: str, where: str, cwd: Path, environ: Mapping[str, str]) -> ConnectionOptions:
    """The options of a URL from a flag or the environment; its files are relative to ``cwd``.

    Raises:
        SettingsError: It is no URL, or a file it names cannot be read.
    """
    with located(where):
        options = parse_url(url)
        return replace(options, tls=_find_files(options.tls, cwd, environ))


def compose_context(context: Context, environ: Mapping[str, str]) -> ConnectionOptions:
    """The options of a context: its address, then what its other keys add, passwords read at last.

    Raises:
        SettingsError: Keys contradict each other, a file cannot be read, a program fails.
    """
    with located(context.where):
        options = check_context(context)
        return replace(
            options,
            tls=_find_files(options.tls, context.file.parent, environ),
            password=_read_password(context, "") or options.password,
            sentinel_password=_read_password(context, "sentinel_"),
        )


def check_context(context: Context) -> ConnectionOptions:
    """The options of a context as far as its text tells: no file is read and no program run.

    Raises:
        SettingsError: Keys contradict each other, or ask for what the file may not ask for; the message
            begins with the key, not with the file and the context.
    """
    table = context.table
    options = _compose_address(context.table)
    _check_sentinels(table, options)
    _check_passwords(context, options)
    if table.timeout is not None and table.timeout > MAX_TIMEOUT:
        raise SettingsError("timeout: more than an hour", 'Write timeout = "5s".')
    return replace(
        options,
        username=_stated_once("username", table.username, options.username),
        sentinel_username=_stated_once(
            "sentinel_username", table.sentinel_username, options.sentinel_username
        ),
        tls=_compose_tls(table, options.tls),
        timeout=table.timeout or options.timeout,
    )


def _compose_address(table: ContextTable) -> ConnectionOptions:
    if table.url is not None:
        with located("url"):
            return parse_url(table.url.reveal())
    if table.socket is not None:
        with located("socket"):
            return parse_url(f"unix://{quote(table.socket)}?db={table.database or 0}")
    host = quote(table.host or "", safe=":")
    if host.count(":") == 1:
        raise SettingsError("host: holds a colon", "State the port under its own key.")
    address = f"[{host}]" if ":" in host else host
    scheme = "rediss" if table.tls else "redis"
    with located("host"):
        return parse_url(f"{scheme}://{address}:{table.port or 6379}/{table.database or 0}")


def _stated_once(key: str, here: T | None, in_url: T | None) -> T | None:
    if here is not None and in_url is not None:
        raise SettingsError(f"{key}: stated twice, in the url too", "Keep one of them.")
    return here if in_url is None else in_url


def _compose_tls(table: ContextTable, tls: Tls | None) -> Tls | None:
    stated = [key for key in ("ca", "cert", "key", "sni", "verify") if getattr(table, key) is not None]
    if not stated:
        return tls
    if tls is None:
        hint = "Use rediss:// in the url, or tls = true with host."
        raise SettingsError(f"{stated[0]}: the connection speaks no TLS", hint)
    if table.sni is not None and not HOST.fullmatch(table.sni):
        raise SettingsError("sni: not a host name", "Write the name that the server's certificate holds.")
    composed = Tls(
        ca_file=_stated_once("ca", table.ca, tls.ca_file),
        certificate_file=_stated_once("cert", table.cert, tls.certificate_file),
        key_file=_stated_once("key", table.key, tls.key_file),
        server_name=_stated_once("sni", table.sni, tls.server_name),
        verify=tls.verify if table.verify is None else table.verify,
    )
    if composed.key_file and not composed.certificate_file:
        raise SettingsError("key: stated without cert", "Add cert.")
    return composed


def _check_sentinels(table: ContextTable, options: ConnectionOptions) -> None:
    if options.mode is Mode.SENTINEL:
        return
    for key in ("sentinel_username", "sentinel_password_file", "sentinel_password_command"):
        if getattr(table, key) is not None:
            raise SettingsError(f"{key}: the context names no Sentinels", "Use redis+sentinel://.")


def _check_passwords(context: Context, options: ConnectionOptions) -> None:
    table = context.table
    for key, command in (
        ("password_command", table.password_command),
        ("sentinel_password_command", table.sentinel_password_command),
    ):
        if command is not None:
            with located(key):
                split_command(command)
    if options.password is None:
        return
    for key in ("password_file", "password_command"):
        if key in context.stated:
            raise SettingsError(f"{key}: the url holds a password already", "Keep one of them.")


def _read_password(context: Context, prefix: str) -> Secret | None:
    file: str | None = getattr(context.table, f"{prefix}password_file")
    command: str | tuple[str, ...] | None = getattr(context.table, f"{prefix}password_command")
    if command is not None:
        with located(f"{prefix}password_command"):
            return run_password_command(command)
    if file is None:
        return None
    with located(f"{prefix}password_file"):
        return read_password_file(Path(file))


def _find_files(tls: Tls | None, directory: Path, environ: Mapping[str, str]) -> Tls | None:
    """The same with whole paths of files that can be read."""
    if tls is None:
        return None
    return replace(
        tls,
        ca_file=_find_file(tls.ca_file, directory, environ),
        certificate_file=_find_file(tls.certificate_file, directory, environ),
        key_file=_find_file(tls.key_file, directory, environ),
    )


def _find_file(written: str | None, directory: Path, environ: Mapping[str, str]) -> str | None:
    if written is None:
        return None
    path = resolve_path(written, directory, environ)
    try:
        if path.is_fifo():
            raise SettingsError(f"cannot read {path}: it is a pipe", "Name a file.")
        path.open("rb").close()
    except OSError as error:
        raise SettingsError(
            f"cannot read {path}: {error.strerror}", "Check the name and its permissions."
        ) from None
    return str(path)
