"""What a configuration file may say of HTTP callbacks and their intake."""

from datetime import timedelta
from typing import Annotated

from msgspec import Meta, Struct

from streamops.errors import SettingsError
from streamops.model.schedules import MINUTES_2N_1, parse_schedule
from streamops.model.secret import Secret
from streamops.model.topics import (
    DEFAULT_CONTENT_TYPE,
    DEFAULT_GROUP,
    Topic,
    parse_priority,
    retry_when_problem,
    topic_problems,
)
from streamops.service.reach import Reach

Count = Annotated[int, Meta(ge=1, le=1_000_000)]


class TopicTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[[topics]]``: one topic; what its keys mean stands at ``streamops.model.topics.Topic``.

    ``ValueError`` that tells everything that makes no sense; msgspec turns that into its own error.

    Attributes:
        context: The context that its messages are in; the one in use unless stated.
        priority: ``high``, ``normal``, ``low``, or a weight.
        retry: A schedule as text.
        header_files: Headers whose values are read from files.
        secret_file: File that holds the secret to sign calls with.
        secret_command: Program that prints it.
    """

    name: str
    url: Secret
    context: str | None = None
    method: str = "POST"
    delay: timedelta | None = None
    time_to_run: timedelta = timedelta(seconds=30)
    content_type: str = DEFAULT_CONTENT_TYPE
    headers: dict[str, str] = {}
    header_files: dict[str, str] = {}
    priority: str | int = "normal"
    retry: str = MINUTES_2N_1.text
    max_attempts: int = 10
    retry_when: str | None = None
    retry_empty: bool = True
    enabled: bool = True
    concurrency: int = 16
    stream: str | None = None
    group: str = DEFAULT_GROUP
    secret_file: str | None = None
    secret_command: str | tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        problems = []
        if self.secret_file is not None and self.secret_command is not None:
            problems.append("says both secret_file and secret_command")
        for key, parse in (("priority", parse_priority), ("retry", parse_schedule)):
            try:
                parse(getattr(self, key))
            except ValueError as error:
                problems.append(f"{key}: {error}")
        if not problems:
            problems += [f"{problem.field}: {problem.text}" for problem in topic_problems(self._topic())]
        if why := retry_when_problem(self.retry_when or ""):
            problems.append(f"retry_when: {why}")
        if problems:
            raise ValueError("; ".join(problems))

    def topic(self, headers: dict[str, str], secret: Secret | None) -> Topic:
        """The topic, with what was read from files and programs."""
        return self._topic(headers, secret)

    def _topic(self, headers: dict[str, str] | None = None, secret: Secret | None = None) -> Topic:
        # Files are not read to check a table: their headers' names can be judged all the same.
        unread = {**self.headers, **dict.fromkeys(self.header_files, "")}
        return Topic(
            name=self.name,
            url=self.url.reveal(),
            method=self.method,
            delay=self.delay or timedelta(),
            time_to_run=self.time_to_run,
            content_type=self.content_type,
            headers=tuple((unread if headers is None else headers).items()),
            weight=parse_priority(self.priority),
            retry=parse_schedule(self.retry),
            max_attempts=self.max_attempts,
            retry_when=self.retry_when or "",
            retry_empty=self.retry_empty,
            enabled=self.enabled,
            concurrency=self.concurrency,
            stream=self.stream or "",
            group=self.group,
            secret=secret,
        )


class CallbacksTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[callbacks]``: how topics' URLs are called.

    Attributes:
        hosts: The only hosts that may be called: names, patterns of names, addresses and networks. Without any these
            are all but this machine itself and its link.
        deny_private: Whether private networks may not be called either, unless ``hosts`` lists their addresses.
        per_host: Calls to one host at once.
        open_after: Failures of a host in a row after which it is left alone for a while.
        pause: For how long at first; doubled each time, up to two minutes.
        max_answer: Bytes of an answer that are read at most.
    """

    hosts: tuple[str, ...] = ()
    deny_private: bool = False
    per_host: Count = 64
    open_after: Count = 5
    pause: timedelta = timedelta(seconds=10)
    max_answer: Annotated[int, Meta(ge=1024, le=1 << 30)] = 1 << 20

    def __post_init__(self) -> None:
        try:
            Reach(self.hosts)
        except SettingsError as error:
            raise ValueError(f"hosts: {error.message}. {error.hint}") from None


class IntakeTable(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``[intake]``: the HTTP intake of topics' messages.

    Attributes:
        listen: Host and port to listen at.
        token_file: File of bearer tokens, one a line; what begins with ``#`` is none.
        token_command: Program that prints the one token.
        anonymous: Whether nobody has to show a token; on a loopback address alone.
        max_body: Bytes of a message at most.
        max_connections: Connections at once; further ones are closed.
    """

    listen: str = "127.0.0.1:8787"
    token_file: str | None = None
    token_command: str | tuple[str, ...] | None = None
    anonymous: bool = False
    max_body: Annotated[int, Meta(ge=1, le=1 << 29)] = 1 << 20
    max_connections: Count = 1000

    def __post_init__(self) -> None:
        if self.token_file is not None and self.token_command is not None:
            raise ValueError("says both token_file and token_command")
        if self.anonymous and (self.token_file is not None or self.token_command is not None):
            raise ValueError("says anonymous, and where tokens are")
