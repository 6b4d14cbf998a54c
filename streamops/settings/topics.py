"""Topics of the configuration, and how callbacks and their intake are run: secrets read, contexts composed."""

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Final, NamedTuple

from msgspec import Struct, convert

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.model.topics import SHORTEST_SECRET, Topic, check_topic
from streamops.settings.config import Config, read_config
from streamops.settings.connections import compose_context, located
from streamops.settings.files import ConfigFile
from streamops.settings.load import Flags, Settings, load_settings
from streamops.settings.passwords import read_password_file, run_password_command
from streamops.settings.places import resolve_path
from streamops.settings.topic_tables import CallbacksTable, IntakeTable, TopicTable
from streamops.wire.options import ConnectionOptions

HERE: Final = ""
"""The context in use, where a topic names none."""

MAX_TOKENS_BYTES: Final = 1 << 20
TOKENS_HINT: Final = "Write tokens into it, one a line; `openssl rand -hex 32` makes one."


class ConfiguredTopic(Struct, frozen=True):
    """A topic of a configuration file.

    Attributes:
        topic: The topic; without what is read from files and programs unless it was asked for.
        context: The context that it names; ``HERE`` where it names none.
        file: The file that it stands in.
        signed: Whether it has a secret, read or not.
    """

    topic: Topic
    context: str
    file: str
    signed: bool


class Intake(Struct, frozen=True):
    """How messages are taken in.

    Attributes:
        host: Where to listen.
        port: At which port.
        tokens: The bearer tokens that are taken; none where nobody has to show one.
        max_body: Bytes of a message at most.
        max_connections: Connections at once.
    """

    host: str
    port: int
    tokens: tuple[Secret, ...]
    max_body: int
    max_connections: int


class TopicContext(Struct, frozen=True):
    """A context that topics are served of.

    Attributes:
        connection: How to connect.
        dead_letters: Its dead-letter queues by the stream they serve.
        delayed: Its queues of delayed messages by their stream.
    """

    connection: ConnectionOptions
    dead_letters: dict[str, str]
    delayed: dict[str, str]


class TopicSettings(Struct, frozen=True):
    """What ``topics serve`` needs to know.

    Attributes:
        contexts: Contexts by their names; ``HERE`` first, for the one in use.
        topics: The topics of the configuration, with their secrets.
        callbacks: How they are called.
        settings: The settings of the context in use.
    """

    contexts: dict[str, TopicContext]
    topics: tuple[ConfiguredTopic, ...]
    callbacks: CallbacksTable
    settings: Settings


class _Place(NamedTuple):
    """A file, and the environment that its paths are read in."""

    file: ConfigFile
    environ: Mapping[str, str]


def list_topics(environ: Mapping[str, str], cwd: Path) -> tuple[ConfiguredTopic, ...]:
    """The topics of all files, by name; no secret is read and no program run.

    Raises:
        SettingsError: A file has a problem, or names a topic twice.
    """
    return tuple(
        ConfiguredTopic(
            table.topic({**table.headers, **dict.fromkeys(table.header_files, "")}, None),
            table.context or HERE,
            str(file.path),
            table.secret_file is not None or table.secret_command is not None,
        )
        for table, file in _tables(read_config(environ, cwd))
    )


def load_topics(
    flags: Flags, environ: Mapping[str, str], cwd: Path, contexts: Sequence[str] = ()
) -> TopicSettings:
    """What serving needs: connections of all contexts that take part, topics with their secrets.

    Args:
        flags: What the command line states.
        environ: The environment.
        cwd: The working directory.
        contexts: Further contexts, beside the one in use and those that topics name.

    Raises:
        SettingsError: Anything cannot be understood or read.
    """
    settings = load_settings(flags, environ, cwd)
    config = read_config(environ, cwd)
    callbacks, _ = config.merge_table("callbacks", CallbacksTable)
    topics = tuple(_topic(table, _Place(file, environ)) for table, file in _tables(config))
    watch = settings.watch
    served = {HERE: TopicContext(settings.connection, watch.dead_letters, watch.delayed)}
    for name in dict.fromkeys([*contexts, *(topic.context for topic in topics)]):
        if name not in (HERE, settings.context):
            context = config.find_context(name, "topics", environ)
            connection = compose_context(context, environ)
            served[name] = TopicContext(connection, context.table.dead_letters, context.table.delayed)
    here = [replace_context(topic, settings.context) for topic in topics]
    return TopicSettings(served, tuple(here), callbacks, settings)


def replace_context(topic: ConfiguredTopic, in_use: str | None) -> ConfiguredTopic:
    """The topic, whose context is ``HERE`` where it names the one in use."""
    if topic.context != in_use:
        return topic
    return ConfiguredTopic(topic.topic, HERE, topic.file, topic.signed)


def load_intake(environ: Mapping[str, str], cwd: Path, listen: str | None = None) -> Intake:
    """How messages are taken in; reads the tokens.

    Args:
        environ: The environment.
        cwd: The working directory.
        listen: Where to listen, in place of what the configuration says.

    Raises:
        SettingsError: Nobody could be told from anybody else; or something cannot be understood or read.
    """
    config = read_config(environ, cwd)
    table, origins = config.merge_table("intake", IntakeTable)
    host, port = parse_listen(listen or table.listen)
    key = "token_file" if table.token_file is not None else "token_command"
    stated = origins.get(f"intake.{key}")
    file = next((file for file in config.files if str(file.path) == stated), None)
    tokens: tuple[Secret, ...] = ()
    if file is not None:
        with located(f"{file.path}: intake.{key}"):
            tokens = _read_tokens(table, _Place(file, environ))
    _check_open(table, host, tokens)
    return Intake(host, port, tokens, table.max_body, table.max_connections)


def parse_listen(written: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT`` or ``[V6]:PORT``; raises ``SettingsError``."""
    host, colon, port = written.rpartition(":")
    plain = host.removeprefix("[").removesuffix("]")
    if not colon or not plain or not (port.isascii() and port.isdigit()) or int(port) > 65535:  # noqa: PLR2004 - ports
        raise SettingsError("listen: not HOST:PORT", 'Write "127.0.0.1:8787", or "[::1]:8787".')
    return plain, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens at a host."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_open(table: IntakeTable, host: str, tokens: Sequence[Secret]) -> None:
    if tokens:
        return
    if not table.anonymous:
        raise SettingsError(
            "intake: there is no token, so that anybody could add messages",
            "State token_file under [intake]; or anonymous = true, on a loopback address.",
        )
    if not is_loopback(host):
        raise SettingsError(
            f"intake: anonymous at {host}, which others reach too",
            "Listen at 127.0.0.1, or state token_file under [intake].",
        )


def _tables(config: Config) -> Iterator[tuple[TopicTable, ConfigFile]]:
    """Tables with their files, by name; of two with one name the stronger file's."""
    found: dict[str, tuple[TopicTable, ConfigFile]] = {}
    for file in config.files:
        tables = [convert(row, TopicTable) for row in file.stated.get("topics", ())]
        names = [table.name for table in tables]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SettingsError(f"{file.path}: topics: {twice!r} stands there twice", "Keep one of them.")
        for table in tables:
            found.setdefault(table.name, (table, file))
    yield from (found[name] for name in sorted(found))


def _topic(table: TopicTable, place: _Place) -> ConfiguredTopic:
    where = f"{place.file.path}: topic {table.name!r}"
    headers = dict(table.headers)
    for name, path in table.header_files.items():
        with located(f"{where}: header_files.{name}"):
            headers[name] = read_password_file(_found(path, place)).reveal()
    secret = None
    if table.secret_file is not None:
        with located(f"{where}: secret_file"):
            secret = read_password_file(_found(table.secret_file, place))
    elif table.secret_command is not None:
        with located(f"{where}: secret_command"):
            secret = run_password_command(table.secret_command)
    topic = table.topic(headers, secret)
    _check_read(where, topic)
    return ConfiguredTopic(topic, table.context or HERE, str(place.file.path), secret is not None)


def _check_read(where: str, topic: Topic) -> None:
    for problem in check_topic(topic):
        raise SettingsError(f"{where}: {problem.field}: {problem.text}", "Correct what the file holds.")


def _read_tokens(table: IntakeTable, place: _Place) -> tuple[Secret, ...]:
    if table.token_command is not None:
        tokens = [run_password_command(table.token_command).reveal()]
    else:
        tokens = _lines(_found(table.token_file or "", place))
    if not tokens:
        raise SettingsError("holds no token", TOKENS_HINT)
    if any(
        len(token) < SHORTEST_SECRET or not token.isascii() or not token.isprintable() for token in tokens
    ):
        raise SettingsError(
            f"a token of fewer than {SHORTEST_SECRET} characters, or with others than ASCII", TOKENS_HINT
        )
    return tuple(map(Secret, tokens))


def _lines(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_TOKENS_BYTES).decode()
    except OSError as error:
        raise SettingsError(
            f"cannot read {path}: {error.strerror}", "Check the name and its permissions."
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8", TOKENS_HINT) from None
    return [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def _found(written: str, place: _Place) -> Path:
    return resolve_path(written, place.file.path.parent, place.environ)
