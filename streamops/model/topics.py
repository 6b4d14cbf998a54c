"""Topics: to which URL a delay queue's messages are called back, when, what is done if that fails, and what makes no sense in them."""

import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import fields

from streamops.errors import SettingsError
from streamops.model.schedules import MINUTES_2N_1, Schedule
from streamops.model.secret import Secret

WEIGHTS: Final = {"high": 5, "normal": 3, "low": 2}
"""Priorities by name: shares in which waiting messages are taken."""

MOST_WEIGHT: Final = 100
METHODS: Final = ("POST", "PUT", "PATCH")
DEFAULT_GROUP: Final = "callbacks"
DEFAULT_CONTENT_TYPE: Final = "application/json"
DATA: Final = b"data"
IDENT: Final = b"id"
CONTENT_TYPE: Final = b"content_type"
JSON_TYPE: Final = "application/json"
LONGEST_DELAY: Final = timedelta(days=3650)
LONGEST_RUN: Final = timedelta(hours=1)
MOST_ATTEMPTS: Final = 1000
MOST_CONCURRENCY: Final = 1000
SHORTEST_SECRET: Final = 16
OWN_HEADERS: Final = frozenset(
    {
        "host",
        "connection",
        "content-length",
        "content-type",
        "transfer-encoding",
        "accept-encoding",
        "expect",
        "upgrade",
        "idempotency-key",
    }
)
"""Names of headers that the caller sets itself, in lower case; so does it those that begin with ``x-streamops-``."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_USER: Final = re.compile(r"//[^/]*@")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_TYPE: Final = re.compile(r"[\w.+-]+/[\w.+-]+(?:; ?[\w.+-]+=[\w.+-]+)*", re.ASCII)
_HIGHEST_PORT: Final = 65535


class Topic(Struct, frozen=True, kw_only=True):
    """One topic. What makes no sense is told by ``topic_problems``, all of it at once.

    Attributes:
        name: Its name.
        url: Where its messages are called back to: http or https.
        method: HTTP method of the call: POST, PUT or PATCH.
        delay: Default delay of a message.
        time_to_run: Timeout of one call.
        content_type: What the bodies are, where a message does not say itself.
        headers: Further headers of every call; their values may be secrets, and are never shown.
        weight: Its share in the reading where many topics have messages waiting.
        retry: How long to wait after each failed call.
        max_attempts: How many times a message is called at most before it goes to the dead letters.
        retry_when: JMESPath over ``{status, headers, body}``; if it is true of an answer, the call is repeated.
        retry_empty: Treat an answer without a body as failed.
        enabled: Whether its messages are called; while they are not, they wait.
        concurrency: How many calls run at once in one worker.
        stream: The stream of its messages; ``topic:NAME`` if none is given.
        group: The consumer group that calls them.
        secret: What calls are signed with; None if they are not.
    """

    name: str
    url: str
    method: str = "POST"
    delay: timedelta = timedelta()
    time_to_run: timedelta = timedelta(seconds=30)
    content_type: str = DEFAULT_CONTENT_TYPE
    headers: tuple[tuple[str, str], ...] = ()
    weight: int = WEIGHTS["normal"]
    retry: Schedule = MINUTES_2N_1
    max_attempts: int = 10
    retry_when: str = ""
    retry_empty: bool = True
    enabled: bool = True
    concurrency: int = 16
    stream: str = ""
    group: str = DEFAULT_GROUP
    secret: Secret | None = None

    def __repr__(self) -> str:
        return f"<Topic {self.name}>"

    @property
    def key(self) -> str:
        """The stream of its messages."""
        return self.stream or f"topic:{self.name}"

    @property
    def priority(self) -> str:
        """Its weight by name where it has one: ``high``."""
        return next((name for name, weight in WEIGHTS.items() if weight == self.weight), str(self.weight))

    @property
    def shown_url(self) -> str:
        """Its URL without what may be secret: the query, and a user and password that it must not have."""
        address, query, _ = self.url.partition("?")
        shown = _USER.sub("//***@", address)
        return f"{shown}?***" if query else shown


HERE: Final = ""
"""The context in use, for a topic that names none."""


class ConfiguredTopic(Struct, frozen=True):
    """A topic of a configuration file.

    Attributes:
        topic: The topic; without what is read from files and programs unless it was asked for.
        contexts: The contexts that it names; ``HERE`` alone if it names none. Of several, each has a share of its messages.
        file: The file that it stands in.
        signed: Whether it has a secret, read or not.
    """

    topic: Topic
    contexts: tuple[str, ...]
    file: str
    signed: bool


class TopicProblem(Struct, frozen=True):
    """One thing that is wrong with a topic.

    Attributes:
        field: The attribute.
        text: What is wrong; never a secret.
    """

    field: str
    text: str


def parse_priority(written: str | int) -> int:
    """A weight, or that of a priority's name; raises ``ValueError`` if it is neither."""
    if isinstance(written, int):
        return written
    if written in WEIGHTS:
        return WEIGHTS[written]
    if written.isascii() and written.isdigit():
        return int(written)
    raise ValueError(f"not one of {', '.join(WEIGHTS)}, and no weight from 1 to {MOST_WEIGHT}")


def topic_problems(topic: Topic) -> tuple[TopicProblem, ...]:
    """Everything that is wrong with a topic, as far as it can be told without its retry condition's grammar."""
    found = {
        "name": "" if _NAME.fullmatch(topic.name) else "not 1 to 100 letters, digits, '.', '_' and '-'",
        "url": url_problem(topic.url),
        "method": "" if topic.method in METHODS else f"not one of {', '.join(METHODS)}",
        "delay": "" if timedelta() <= topic.delay <= LONGEST_DELAY else "not from nothing to ten years",
        "time_to_run": ""
        if timedelta() < topic.time_to_run <= LONGEST_RUN
        else "not above nothing and up to an hour",
        "content_type": "" if _TYPE.fullmatch(topic.content_type) else "not a content type",
        "headers": headers_problem(topic.headers),
        "priority": _number_problem(topic.weight, MOST_WEIGHT),
        "max_attempts": _number_problem(topic.max_attempts, MOST_ATTEMPTS),
        "concurrency": _number_problem(topic.concurrency, MOST_CONCURRENCY),
        "stream": _stream_problem(topic.stream),
        "group": "" if topic.group and topic.group.isprintable() else "empty, or holds what does not print",
        "secret": _secret_problem(topic.secret),
    }
    return tuple(TopicProblem(field, text) for field, text in found.items() if text)


def url_problem(url: str) -> str:
    """What is wrong with a URL to call; empty for nothing. The URL itself is not repeated: it may hold a secret."""
    if not url or not url.isascii() or not url.isprintable() or " " in url:
        return "not a URL in plain ASCII"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "not a URL"
    if parts.scheme not in ("http", "https"):
        return "begins with neither http:// nor https://"
    if not parts.hostname:
        return "names no host"
    if parts.username is not None or parts.password is not None:
        return "holds a user or password; say it in a header"
    if port is not None and not 0 < port <= _HIGHEST_PORT:
        return "has a port that is none"
    return "has a fragment, which is never sent" if parts.fragment else ""


def headers_problem(headers: tuple[tuple[str, str], ...]) -> str:
    """What is wrong with headers to send along with a call; empty for nothing. No value is repeated."""
    names = [name.lower() for name, _ in headers]
    for name, (_, value) in zip(names, headers, strict=True):
        if not _TOKEN.fullmatch(name):
            return "a name that no header can have"
        if name in OWN_HEADERS or name.startswith("x-streamops-"):
            return f"{name} is set by the caller itself"
        if not value.isprintable() or not value.isascii():
            return f"the value of {name} holds what no header can"
    twice = next((name for name in names if names.count(name) > 1), "")
    return f"{twice} is listed twice" if twice else ""


def _number_problem(number: int, most: int) -> str:
    return "" if 1 <= number <= most else f"not a number from 1 to {most}"


def _stream_problem(stream: str) -> str:
    if not stream:
        return ""
    if not stream.isprintable():
        return "holds what does not print"
    if stream.removeprefix("{").startswith("streamops:"):
        return "begins with streamops:, which streamops keeps for itself"
    return "ends in :dlq, as dead-letter queues do" if stream.endswith(":dlq") else ""


def _secret_problem(secret: Secret | None) -> str:
    if secret is None or len(secret.reveal()) >= SHORTEST_SECRET:
        return ""
    return f"shorter than {SHORTEST_SECRET} characters"


ANSWER_ROOTS: Final = ("status", "headers", "body")
"""What a retry condition sees."""


def check_topic(topic: Topic) -> tuple[TopicProblem, ...]:
    """Everything that is wrong with a topic; empty for nothing."""
    found = topic_problems(topic)
    problem = retry_when_problem(topic.retry_when)
    return (*found, TopicProblem("retry_when", problem)) if problem else found


def require_topic(topic: Topic) -> None:
    """Require that a topic makes sense; raises ``SettingsError`` that says all that is wrong with it."""
    problems = check_topic(topic)
    if problems:
        text = "; ".join(f"{problem.field}: {problem.text}" for problem in problems)
        raise SettingsError(
            f"topic {topic.name!r}: {text}", "`streamops webhooks create --help` shows what each field takes."
        )


def retry_when_problem(text: str) -> str:
    """What is wrong with a retry condition; empty for nothing, and for none."""
    if not text:
        return ""
    # JMESPath is imported if it is used.
    from streamops.model.expressions import Expression  # noqa: PLC0415

    try:
        Expression(text, ANSWER_ROOTS)
    except SettingsError as error:
        return f"{error.message}. {error.hint}".rstrip()
    return ""


def shown_value(topic: Topic, field: str) -> str:
    """A topic's attribute in words; of headers the names, of a secret that there is one."""
    shown = {
        "url": topic.shown_url,
        "headers": ", ".join(name for name, _ in topic.headers) or "none",
        "secret": "not set" if topic.secret is None else "set",
        "retry": topic.retry.text,
        "weight": topic.priority,
        "stream": topic.key,
        "delay": f"{topic.delay.total_seconds():g} s",
        "time_to_run": f"{topic.time_to_run.total_seconds():g} s",
        "enabled": "yes" if topic.enabled else "no",
        "retry_empty": "yes" if topic.retry_empty else "no",
    }
    return shown[field] if field in shown else str(getattr(topic, field))


def described(topic: Topic, before: Topic | None) -> Iterator[str]:
    """What differs from a former topic, or else from the defaults, a line each."""
    for field in fields(Topic):
        if field.name == "name":
            continue
        then = getattr(before, field.name) if before else field.default
        if getattr(topic, field.name) != then:
            yield f"{field.name}: {shown_value(topic, field.name)}"


def message_fields(ident: str, body: bytes, content_type: str) -> tuple[tuple[bytes, bytes], ...]:
    """The fields of the entry that a message becomes; JSON needs no type."""
    fields = ((IDENT, ident.encode()), (DATA, body))
    plain = content_type.partition(";")[0].strip().lower() in ("", JSON_TYPE)
    return fields if plain else (*fields, (CONTENT_TYPE, content_type.encode()))
