"""Topics as what is acted on: added, switched off and on, removed."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.fields import argument, option
from streamops.model.schedules import HINT, MINUTES_2N_1, parse_schedule
from streamops.model.topics import DEFAULT_CONTENT_TYPE, DEFAULT_GROUP, parse_priority

Name = Annotated[str, argument("The topic.", completes="topics")]


class AddTopicIntent(OperationIntent, frozen=True, kw_only=True):
    """Create a topic in Redis.

    Create a topic in Redis: a URL that its messages are sent to, once they are due. The program that runs
    `streamops webhooks serve` notices within a second or so. Secrets are read from files, are never shown, and
    are stored in Redis in plain text: users who may read the key streamops:topics may read them.

    Raises:
        ValueError: Its priority or its schedule cannot be read.
    """

    operation: ClassVar = "topics.add"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        (
            "streamops webhooks create remind https://hooks.example.net/remind --delay 30m",
            "sent after half an hour",
        ),
        (
            "streamops webhooks create paid https://hooks.example.net/paid --retry '1m, 5m, 1h' --secret-file key",
            "with its own schedule, and signed",
        ),
        (
            "streamops webhooks create sync https://hooks.example.net/sync --retry-when 'body.code != `200`'",
            "called again unless the answer says so",
        ),
    )
    exits: ClassVar = {
        2: "usage or configuration: an invalid topic",
        4: "refused: it exists, or read-only",
    }

    name: Annotated[str, argument("The topic's name.")]
    callback: Annotated[
        str, argument("The URL that its messages are sent to; it is not kept secret.", metavar="URL")
    ]
    method: Annotated[str, option("HTTP method of the call: POST, PUT or PATCH.")] = "POST"
    delay: Annotated[timedelta, option("Default delay of a message.")] = timedelta()
    time_to_run: Annotated[timedelta, option("Timeout of one call.")] = timedelta(seconds=30)
    content_type: Annotated[str, option("Default content type of a message.")] = DEFAULT_CONTENT_TYPE
    headers_file: Annotated[
        str | None,
        option(
            "Send the headers of this file too, `Name: value` a line; they are never shown.", metavar="FILE"
        ),
    ] = None
    priority: Annotated[
        str,
        option(
            "high, normal or low, which share the calls 5:3:2; or a weight from 1 to 100.", metavar="WEIGHT"
        ),
    ] = "normal"
    retry: Annotated[str, option(f"Delay after each failed call. {HINT}", metavar="SCHEDULE")] = (
        MINUTES_2N_1.text
    )
    max_attempts: Annotated[int, option("Attempts per message before it is dead-lettered.")] = 10
    retry_when: Annotated[
        str,
        option(
            "JMESPath over {status, headers, body}: if it is true, the call is repeated.",
            metavar="EXPRESSION",
        ),
    ] = ""
    retry_empty: Annotated[
        bool, option("Treat an answer without a body as failed.", off="--accept-empty")
    ] = True
    concurrency: Annotated[int, option("Concurrent calls in one worker.")] = 16
    stream: Annotated[
        str,
        option("Stream of its messages; default: topic:NAME.", metavar="STREAM", completes="streams"),
    ] = ""
    group: Annotated[str, option("The consumer group that calls them.", metavar="GROUP")] = DEFAULT_GROUP
    secret_file: Annotated[
        str | None,
        option("Sign calls with the secret in this file; the secret is stored in Redis.", metavar="FILE"),
    ] = None
    enabled: Annotated[
        bool, option("Whether its messages are sent; disabled, they wait.", off="--disabled")
    ] = True
    replace: Annotated[bool, option("Replace an existing topic of that name.")] = False

    def __post_init__(self) -> None:
        for flag, parse, text in (
            ("priority", parse_priority, self.priority),
            ("retry", parse_schedule, self.retry),
        ):
            try:
                parse(text)
            except ValueError as error:
                raise ValueError(f"--{flag}: {error}. {HINT if flag == 'retry' else ''}".rstrip()) from None


class RemoveTopicIntent(OperationIntent, frozen=True, kw_only=True):
    """Remove a topic that is kept in Redis.

    Remove a topic that is kept in Redis, with its secret. Its stream and the messages that wait stay where
    they are, and are not sent; `streamops delayed rm` and `streamops trim` remove them.
    """

    operation: ClassVar = "topics.rm"
    impact: ClassVar = Impact.DESTRUCTIVE
    examples: ClassVar = (("streamops webhooks rm remind --confirm remind", "in a script"),)
    exits: ClassVar = {1: "failed; Redis holds no such topic"}

    name: Name


class TopicOffIntent(OperationIntent, frozen=True, kw_only=True):
    """Pause a topic: its messages are not sent.

    Stop sending a topic's messages, until `streamops webhooks resume`. New messages are still accepted, and
    wait; calls in flight finish.
    """

    operation: ClassVar = "topics.off"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (("streamops webhooks pause remind", "its messages wait"),)
    exits: ClassVar = {1: "failed; Redis holds no such topic"}

    name: Name


class TopicOnIntent(OperationIntent, frozen=True, kw_only=True):
    """Resume a paused topic.

    Send the messages of a paused topic again.
    """

    operation: ClassVar = "topics.on"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("streamops webhooks resume remind", "waiting messages are sent once they are due"),
    )
    exits: ClassVar = {1: "failed; Redis holds no such topic"}

    name: Name
