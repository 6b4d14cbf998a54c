"""Topics of the configuration, and how callbacks and their intake are run: secrets read, contexts composed."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, convert
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.model.topics import HERE, SHORTEST_SECRET, ConfiguredTopic, check_topic
from streamops.service.addresses import is_loopback, parse_listen
from streamops.settings.config import Config, read_config
from streamops.settings.connections import compose_context, located
from streamops.settings.load import Flags, Settings, load_settings
from streamops.settings.secrets import (
    read_password_file,
    read_secret_lines,
    run_password_command,
)
from streamops.settings.tables import CallbacksTable, IngestTable, TopicTable
from streamops.wire.options import ConnectionOptions

TOKENS_HINT: Final = "Write tokens into it, one a line; `openssl rand -hex 32` makes one."


class Ingest(Struct, frozen=True):
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
    """What ``webhooks serve`` needs to know.

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


def list_topics(environ: Mapping[str, str], cwd: Path) -> tuple[ConfiguredTopic, ...]:
    """The topics of all files, by name; no secret is read and no program run.

    Raises:
        SettingsError: A file has a problem, or names a topic twice.
    """
    return tuple(
        ConfiguredTopic(table.topic(), table.named_contexts, file, table.signed)
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
    topics = [_read_topic(table, file) for table, file in _tables(config)]
    watch = settings.watch
    served = {HERE: TopicContext(settings.connection, watch.dead_letters, watch.delayed)}
    for name in dict.fromkeys([*contexts, *(name for topic in topics for name in topic.contexts)]):
        if name not in (HERE, settings.context):
            context = config.find_context(name, "topics", environ)
            connection = compose_context(context, environ)
            served[name] = TopicContext(connection, context.table.dead_letters, context.table.delayed)
    topics = [
        replace(topic, contexts=tuple(HERE if name == settings.context else name for name in topic.contexts))
        for topic in topics
    ]
    return TopicSettings(served, tuple(topics), config.tables.callbacks, settings)


def load_ingest(environ: Mapping[str, str], cwd: Path, listen: str | None = None) -> Ingest:
    """How messages are taken in; reads the tokens.

    Args:
        environ: The environment.
        cwd: The working directory.
        listen: Where to listen, in place of what the configuration says.

    Raises:
        SettingsError: Nobody could be told from anybody else; or something cannot be understood or read.
    """
    config = read_config(environ, cwd)
    table = config.tables.intake
    host, port = parse_listen(listen or table.listen)
    tokens = _read_tokens(table, config.origins)
    if not tokens and not table.anonymous:
        raise SettingsError(
            "intake: there is no token, so anyone could add messages",
            "State token_file under [intake]; or anonymous = true, on a loopback address.",
        )
    if not tokens and not is_loopback(host):
        raise SettingsError(
            f"intake: anonymous at {host}, which others reach too",
            "Listen at 127.0.0.1, or state token_file under [intake].",
        )
    return Ingest(host, port, tokens, table.max_body, table.max_connections)


def _read_tokens(table: IngestTable, origins: Mapping[str, str]) -> tuple[Secret, ...]:
    if table.token_file is None and table.token_command is None:
        return ()
    key = "intake.token_file" if table.token_command is None else "intake.token_command"
    with located(f"{origins[key]}: {key}"):
        if table.token_command is not None:
            lines = [run_password_command(table.token_command).reveal()]
        else:
            lines = read_secret_lines(Path(table.token_file or ""))
        tokens = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not tokens:
            raise SettingsError("holds no token", TOKENS_HINT)
        if any(
            len(token) < SHORTEST_SECRET or not token.isascii() or not token.isprintable() for token in tokens
        ):
            raise SettingsError(
                f"a token of fewer than {SHORTEST_SECRET} characters, or with others than ASCII", TOKENS_HINT
            )
        return tuple(map(Secret, tokens))


def _tables(config: Config) -> Iterator[tuple[TopicTable, str]]:
    """Tables with their files, by name; of two with one name the stronger file's."""
    found: dict[str, tuple[TopicTable, str]] = {}
    for file in config.files:
        tables = [convert(row, TopicTable) for row in file.stated.get("topics", ())]
        names = [table.name for table in tables]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SettingsError(f"{file.path}: topics: {twice!r} is listed twice", "Keep one of them.")
        for table in tables:
            found.setdefault(table.name, (table, str(file.path)))
    yield from (found[name] for name in sorted(found))


def _read_topic(table: TopicTable, file: str) -> ConfiguredTopic:
    where = f"{file}: topic {table.name!r}"
    headers = dict(table.headers)
    for name, path in table.header_files.items():
        with located(f"{where}: header_files.{name}"):
            headers[name] = read_password_file(Path(path)).reveal()
    secret = None
    if table.secret_file is not None:
        with located(f"{where}: secret_file"):
            secret = read_password_file(Path(table.secret_file))
    elif table.secret_command is not None:
        with located(f"{where}: secret_command"):
            secret = run_password_command(table.secret_command)
    topic = table.topic(headers, secret)
    for problem in check_topic(topic):
        raise SettingsError(f"{where}: {problem.field}: {problem.text}", "Correct what the file holds.")
    return ConfiguredTopic(topic, table.named_contexts, file, table.signed)
