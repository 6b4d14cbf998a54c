"""Topics that are kept in Redis: the hash ``streamops:topics``, a name to a JSON object.

The object holds ``v`` (1) and ``url``, and what differs from the defaults: ``method``, ``delay_seconds``,
``time_to_run_seconds``, ``content_type``, ``headers`` (an object), ``priority`` (a weight), ``retry`` (text, such as
``2n+1 m``), ``max_attempts``, ``retry_when``, ``retry_empty``, ``enabled``, ``concurrency``, ``stream``, ``group``,
``secret``. Secrets stand there as they are: users who may read the key may read them.
"""

from datetime import timedelta
from hashlib import sha1
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from streamops.model.schedules import MINUTES_2N_1, parse_schedule
from streamops.model.secret import Secret
from streamops.model.topics import DEFAULT_CONTENT_TYPE, DEFAULT_GROUP, WEIGHTS, Topic
from streamops.wire.faults import required
from streamops.wire.keys import OWN_PREFIX
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

TOPICS: Final = f"{OWN_PREFIX}topics"
VERSION: Final = 1

_Seconds = Annotated[float, Meta(ge=0, le=1e9)]


class KeptTopic(Struct, frozen=True):
    """A topic as it is kept.

    Attributes:
        name: Its name.
        topic: What it says; None if that cannot be read.
        digest: SHA-1 of the object, as ``put_topic`` wants it; empty if there is none.
        problem: Why it cannot be read; empty if it can.
    """

    name: str
    topic: Topic | None
    digest: str = ""
    problem: str = ""


async def read_topics(server: Server) -> list[KeptTopic]:
    """All topics, by name; raises ``StreamopsError`` if they cannot be read."""
    reply = required(await server.single(TOPICS, "HGETALL", TOPICS), TOPICS)
    pairs = zip(reply[::2], reply[1::2], strict=True)
    return sorted((_kept(decode_name(name), raw) for name, raw in pairs), key=lambda kept: kept.name)


async def read_topic(server: Server, name: str) -> KeptTopic:
    """One topic; without a digest if there is none. Raises ``StreamopsError`` if it cannot be read."""
    reply = required(await server.single(TOPICS, "HGET", TOPICS, name), TOPICS)
    return KeptTopic(name, None) if reply is None else _kept(name, reply)


async def put_topic(server: Server, topic: Topic, digest: str) -> None:
    """Keep a topic in place of what ``digest`` stands for, or of nothing if it is empty.

    Raises:
        StalePlan: Something else stands there by now.
        StreamopsError: It could not be written.
    """
    await _set(server, topic.name, digest, encode_topic(topic))


async def remove_topic(server: Server, name: str, digest: str) -> None:
    """Keep a topic no more; raises what ``put_topic`` raises."""
    await _set(server, name, digest, b"")


def encode_topic(topic: Topic) -> bytes:
    """A topic as it is kept, its secret included."""
    return msgspec.json.encode(
        _TopicFields(
            v=VERSION,
            url=topic.url,
            method=topic.method,
            delay_seconds=topic.delay.total_seconds(),
            time_to_run_seconds=topic.time_to_run.total_seconds(),
            content_type=topic.content_type,
            headers=dict(topic.headers),
            priority=topic.weight,
            retry=topic.retry.text,
            max_attempts=topic.max_attempts,
            retry_when=topic.retry_when,
            retry_empty=topic.retry_empty,
            enabled=topic.enabled,
            concurrency=topic.concurrency,
            stream=topic.stream,
            group=topic.group,
            secret=None if topic.secret is None else topic.secret.reveal(),
        )
    )


def decode_topic(name: str, raw: bytes) -> Topic:
    """A topic that was kept, by any program; raises ``ValueError``, with the reason but no content, if it is none."""
    kept = _DECODER.decode(raw)
    if kept.v != VERSION:
        raise ValueError(f"written in version {kept.v} of the format")
    return Topic(
        name=name,
        url=kept.url,
        method=kept.method,
        delay=timedelta(seconds=kept.delay_seconds),
        time_to_run=timedelta(seconds=kept.time_to_run_seconds),
        content_type=kept.content_type,
        headers=tuple(kept.headers.items()),
        weight=kept.priority,
        retry=parse_schedule(kept.retry),
        max_attempts=kept.max_attempts,
        retry_when=kept.retry_when,
        retry_empty=kept.retry_empty,
        enabled=kept.enabled,
        concurrency=kept.concurrency,
        stream=kept.stream,
        group=kept.group,
        secret=None if kept.secret is None else Secret(kept.secret),
    )


class _TopicFields(Struct, frozen=True, kw_only=True, omit_defaults=True):
    v: Any
    url: str
    method: str = "POST"
    delay_seconds: _Seconds = 0
    time_to_run_seconds: _Seconds = 30
    content_type: str = DEFAULT_CONTENT_TYPE
    headers: dict[str, str] = {}
    priority: int = WEIGHTS["normal"]
    retry: str = MINUTES_2N_1.text
    max_attempts: int = 10
    retry_when: str = ""
    retry_empty: bool = True
    enabled: bool = True
    concurrency: int = 16
    stream: str = ""
    group: str = DEFAULT_GROUP
    secret: str | None = None


_DECODER: Final = msgspec.json.Decoder(_TopicFields)


def _kept(name: str, raw: bytes) -> KeptTopic:
    digest = sha1(raw, usedforsecurity=False).hexdigest()
    try:
        return KeptTopic(name, decode_topic(name, raw), digest)
    except (ValueError, RecursionError) as error:
        return KeptTopic(name, None, digest, f"it cannot be read: {error}")


async def _set(server: Server, name: str, digest: str, raw: bytes) -> None:
    await write_script(server, "topic_set", Call(TOPICS, (name, digest, raw), int), f"topic {name}")
