"""What a configuration file may say. Every key there is stands here, with its type and its default."""

from datetime import timedelta
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

from streamops.model.acting import Environment
from streamops.model.authority import delayed_problem
from streamops.model.retention import RetentionPolicy
from streamops.monitor.thresholds import Thresholds
from streamops.present.keys import keymap_problems
from streamops.present.views import View
from streamops.settings.exporter_table import ExporterTable
from streamops.settings.notify_table import NotifyTable
from streamops.settings.pool_tables import BudgetTable, PoolTable
from streamops.settings.topic_tables import CallbacksTable, IntakeTable, TopicTable
from streamops.wire.options import Secret

DEFAULT_REFRESH: Final = timedelta(seconds=2)


class ContextTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[contexts.NAME]``: one place to connect to, and how to behave there.

    Names of files may begin with ``~/``; relative ones are relative to the directory of the configuration
    file. ``ValueError`` where two keys exclude each other; msgspec turns that into its own error.

    Attributes:
        url: Connection URL, see ``streamops.wire.urls``; the only way to name Sentinels or a cluster.
        host: Host of the server, in place of a URL.
        port: Its port.
        socket: Path of the server's unix socket, in place of a URL or host.
        database: Database number, with ``host`` or ``socket``.
        tls: Whether ``host`` speaks TLS.
        environment: How much care it deserves.
        read_only: Whether everything that changes anything is refused.
        username: ACL user.
        password_file: File that holds the password.
        password_command: Program that prints the password, with its arguments; run without a shell.
        sentinel_username: ACL user on the Sentinels themselves.
        sentinel_password_file: File that holds that user's password.
        sentinel_password_command: Program that prints it.
        ca: PEM file of the authorities to trust.
        cert: PEM file of the client's certificate.
        key: PEM file of its key.
        sni: Name to ask for, and to check the server's certificate against.
        verify: Whether the server's certificate is checked.
        timeout: Longest silence of a server.
        streams: Patterns of the streams to watch.
        exclude: Patterns of streams to leave out.
        dead_letters: Dead-letter queues by the stream they serve.
        delayed: Queues of delayed messages by their stream.
        max_streams: At most so many streams in one collection.
    """

    url: Secret | None = None
    host: str | None = None
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    socket: str | None = None
    database: Annotated[int, Meta(ge=0, le=2**31 - 1)] | None = None
    tls: bool | None = None
    environment: Environment = Environment.PRODUCTION
    read_only: bool = False
    username: str | None = None
    password_file: str | None = None
    password_command: str | tuple[str, ...] | None = None
    sentinel_username: str | None = None
    sentinel_password_file: str | None = None
    sentinel_password_command: str | tuple[str, ...] | None = None
    ca: str | None = None
    cert: str | None = None
    key: str | None = None
    sni: str | None = None
    verify: bool | None = None
    timeout: timedelta | None = None
    streams: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    dead_letters: dict[str, str] = {}
    delayed: dict[str, str] = {}
    max_streams: Annotated[int, Meta(ge=1)] | None = None

    def __post_init__(self) -> None:
        for key in ("host", "port", "socket", "database", "tls"):
            self._exclude("url", key)
        for key in ("host", "port", "tls"):
            self._exclude("socket", key)
        self._exclude("password_file", "password_command")
        self._exclude("sentinel_password_file", "sentinel_password_command")
        if self.url is None and self.host is None and self.socket is None:
            raise ValueError("says neither url nor host nor socket")
        if problem := delayed_problem(self.delayed):
            raise ValueError(problem)

    def _exclude(self, one: str, other: str) -> None:
        if getattr(self, one) is not None and getattr(self, other) is not None:
            raise ValueError(f"says both {one} and {other}")


class ConsoleOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[console]``: how the console in the terminal looks and behaves.

    Attributes:
        refresh: Time between two collections.
        theme: Its colours; none for dark ones, or the terminal's own sixteen where it has no more.
        mouse: Whether the mouse is used; without it the terminal's own selection works.
        color: Whether colour is used, by the command line too.
        copy: Which way text is copied: by the terminal (OSC 52), by a tool such as wl-copy or pbcopy, into a file, or
            by what fits.
        keymap: Keys by the names of what they do, in place of the keys that do it; several with commas.
    """

    refresh: timedelta = DEFAULT_REFRESH
    theme: Literal["dark", "light", "colour-blind", "terminal"] | None = None
    mouse: bool = True
    color: bool = True
    copy: Literal["auto", "osc52", "tool", "file"] = "auto"
    keymap: dict[str, str] = {}

    def __post_init__(self) -> None:
        for problem in keymap_problems(self.keymap):
            raise ValueError(f"keymap: {problem}")


class ConfigTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole file.

    Attributes:
        default_context: The context used where nothing names one.
        contexts: The contexts by name.
        health: Thresholds of the health rules.
        console: Options of the console.
        views: Saved views of the console, by name.
        retention: How much of which streams ``trim --policies`` keeps.
        topics: Topics whose messages are called back over HTTP.
        callbacks: How they are called.
        intake: How messages are taken in over HTTP.
        pools: Pools of workers, by name.
        budgets: What several pools share, by name.
        exporter: Where metrics are served, and which.
        notify: Who is told of what the exporter finds, and when.
    """

    default_context: str | None = None
    contexts: dict[str, ContextTable] = {}
    health: Thresholds = Thresholds()
    console: ConsoleOptions = ConsoleOptions()
    views: dict[str, View] = {}
    retention: tuple[RetentionPolicy, ...] = ()
    topics: tuple[TopicTable, ...] = ()
    callbacks: CallbacksTable = CallbacksTable()
    intake: IntakeTable = IntakeTable()
    pools: dict[str, PoolTable] = {}
    budgets: dict[str, BudgetTable] = {}
    exporter: ExporterTable = ExporterTable()
    notify: NotifyTable = NotifyTable()
