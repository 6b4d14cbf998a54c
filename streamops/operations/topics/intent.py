"""Topics as what is acted on: added, switched off and on, removed."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, option
from streamops.model.schedules import HINT, MINUTES_2N_1, parse_schedule
from streamops.model.topics import DEFAULT_CONTENT_TYPE, DEFAULT_GROUP, parse_priority

Name = Annotated[str, argument("The topic.", completes="topics")]


class AddTopicIntent(Struct, frozen=True, kw_only=True):
    """Keep a topic in Redis. ``ValueError`` where its priority or its schedule cannot be read."""

    name: Annotated[str, argument("The topic's name.")]
    callback: Annotated[
        str, argument("Where its messages are called back to; it is not kept secret.", metavar="URL")
    ]
    method: Annotated[str, option("The method of the call: POST, PUT or PATCH.")] = "POST"
    delay: Annotated[timedelta, option("How long a message waits unless it says something else.")] = (
        timedelta()
    )
    time_to_run: Annotated[timedelta, option("The longest that one call may take.")] = timedelta(seconds=30)
    content_type: Annotated[str, option("What bodies are whose message does not say it.")] = (
        DEFAULT_CONTENT_TYPE
    )
    headers_file: Annotated[
        str | None,
        option(
            "Send the headers of this file too, `Name: value` a line; they are never shown.", metavar="FILE"
        ),
    ] = None
    priority: Annotated[
        str,
        option("high, normal or low, which are called 5:3:2; or a weight from 1 to 100.", metavar="WEIGHT"),
    ] = "normal"
    retry: Annotated[str, option(f"How long to wait after each failed call. {HINT}", metavar="SCHEDULE")] = (
        MINUTES_2N_1.text
    )
    max_attempts: Annotated[int, option("Calls of one message; then the dead letters.")] = 10
    retry_when: Annotated[
        str,
        option(
            "JMESPath over {status, headers, body}: where it holds, the call is repeated.",
            metavar="EXPRESSION",
        ),
    ] = ""
    retry_empty: Annotated[
        bool, option("Whether an answer without a body counts as failed.", off="--accept-empty")
    ] = True
    concurrency: Annotated[int, option("Calls at once in one worker.")] = 16
    stream: Annotated[
        str,
        option("The stream of its messages, in place of topic:NAME.", metavar="STREAM", completes="streams"),
    ] = ""
    group: Annotated[str, option("The consumer group that calls them.", metavar="GROUP")] = DEFAULT_GROUP
    secret_file: Annotated[
        str | None, option("Sign calls with the secret in this file; it is kept in Redis.", metavar="FILE")
    ] = None
    enabled: Annotated[
        bool, option("Whether its messages are called; otherwise they wait.", off="--disabled")
    ] = True
    replace: Annotated[bool, option("Replace the topic where there is one of that name.")] = False

    def __post_init__(self) -> None:
        for flag, parse, text in (
            ("priority", parse_priority, self.priority),
            ("retry", parse_schedule, self.retry),
        ):
            try:
                parse(text)
            except ValueError as error:
                raise ValueError(f"--{flag}: {error}. {HINT if flag == 'retry' else ''}".rstrip()) from None


class RemoveTopicIntent(Struct, frozen=True, kw_only=True):
    """Keep a topic no more."""

    name: Name


class TopicOffIntent(Struct, frozen=True, kw_only=True):
    """Call a topic's messages no more, for the time being."""

    name: Name


class TopicOnIntent(Struct, frozen=True, kw_only=True):
    """Call them again."""

    name: Name
