"""``webhooks create``, ``rm``, ``pause`` and ``resume``: topics kept in Redis, and who changed them."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from streamops.errors import NotFound, SettingsError, StreamopsError
from streamops.model.acting import Plan
from streamops.model.schedules import parse_schedule
from streamops.model.secret import Secret
from streamops.model.topics import Topic, parse_priority
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import count_undone
from streamops.operations.operation import Operation, Writes
from streamops.operations.running import Run
from streamops.operations.topics.intent import (
    AddTopicIntent,
    RemoveTopicIntent,
    TopicOffIntent,
    TopicOnIntent,
)
from streamops.operations.topics.plan import (
    TopicEvidence,
    plan_add_topic,
    plan_remove_topic,
    plan_topic_off,
    plan_topic_on,
)
from streamops.wire.delayed import read_queues
from streamops.wire.faults import Fault
from streamops.wire.topics import TOPICS, put_topic, read_topic, remove_topic

MOST_BYTES: Final = 64 * 1024
"""Of a file that secrets are read from; what it holds never reaches an error."""

WRITES: Final = (("HSET", TOPICS), ("HDEL", TOPICS))
LIST_HINT: Final = "`streamops webhooks ls` lists them; those of the configuration are changed in its files."


async def survey_add_topic(place: ServerContext, intent: AddTopicIntent) -> TopicEvidence:
    """Read what is kept, and the files that the intent names."""
    kept = await read_topic(place.server, intent.name)
    wanted = Topic(
        name=intent.name,
        url=intent.callback,
        method=intent.method,
        delay=intent.delay,
        time_to_run=intent.time_to_run,
        content_type=intent.content_type,
        headers=_read_headers(intent.headers_file) if intent.headers_file else (),
        weight=parse_priority(intent.priority),
        retry=parse_schedule(intent.retry),
        max_attempts=intent.max_attempts,
        retry_when=intent.retry_when,
        retry_empty=intent.retry_empty,
        enabled=intent.enabled,
        concurrency=intent.concurrency,
        stream=intent.stream,
        group=intent.group,
        secret=_read_secret(intent.secret_file) if intent.secret_file else None,
    )
    return TopicEvidence(kept=kept.topic, digest=kept.digest, wanted=wanted)


async def survey_kept_topic(
    place: ServerContext, intent: RemoveTopicIntent | TopicOffIntent | TopicOnIntent
) -> TopicEvidence:
    """Read a topic, how much waits for it, and what it is switched to; raises ``NotFound`` if there is none."""
    kept = await read_topic(place.server, intent.name)
    if not kept.digest:
        raise NotFound(f"no topic {intent.name} is kept in Redis", LIST_HINT)
    evidence = TopicEvidence(kept=kept.topic, digest=kept.digest)
    if kept.topic is None:
        return evidence
    if not isinstance(intent, RemoveTopicIntent):
        wanted = replace(kept.topic, enabled=isinstance(intent, TopicOnIntent))
        evidence = replace(evidence, wanted=wanted)
    # What cannot be read is not known, and holds nothing up.
    with suppress(StreamopsError):
        (queue,) = await read_queues(place.server, [kept.topic.key])
        (entries,) = await count_undone(place.server, [(kept.topic.key, kept.topic.group)])
        waiting = None if isinstance(queue, Fault) else queue.messages
        evidence = replace(evidence, waiting=waiting, entries=entries)
    return evidence


async def apply_topic(
    run: Run,
    intent: AddTopicIntent | TopicOffIntent | TopicOnIntent,
    evidence: TopicEvidence,
    _plan: Plan,
) -> None:
    """Write the topic as it shall be, in place of the one that was read."""
    if evidence.wanted is not None and evidence.wanted != evidence.kept:
        await put_topic(run.server, evidence.wanted, evidence.digest)
        run.note(f"topic {intent.name} is {'enabled' if evidence.wanted.enabled else 'paused'}")
        await run.report(1)


async def apply_remove_topic(
    run: Run, intent: RemoveTopicIntent, evidence: TopicEvidence, _plan: Plan
) -> None:
    """Remove the topic that was read."""
    await remove_topic(run.server, intent.name, evidence.digest)
    run.note(f"topic {intent.name} is removed")
    await run.report(1)


def _read_secret(path: str) -> Secret:
    """The secret in a file, without the line end; raises ``SettingsError``."""
    text = _read_file(path, "--secret-file").rstrip("\r\n")
    if not text or "\n" in text:
        raise SettingsError(
            f"--secret-file: {path} holds no secret on one line", "`openssl rand -hex 32` makes one."
        )
    return Secret(text)


def _read_headers(path: str) -> Writes:
    """The headers in a file, ``Name: value`` a line; raises ``SettingsError`` that names the line."""
    headers = []
    for number, line in enumerate(_read_file(path, "--headers-file").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, colon, value = line.partition(":")
        if not colon or not name.strip():
            raise SettingsError(
                f"--headers-file: {path}: line {number} is no header", "Write `Name: value`, one a line."
            )
        headers.append((name.strip(), value.strip()))
    return tuple(headers)


def _read_file(path: str, flag: str) -> str:
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) <= MOST_BYTES:
            return content.decode()
        problem = "is far too long"
    except OSError as error:
        problem = f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    raise SettingsError(f"{flag}: {path} {problem}", "Check the name, its content and its permissions.")


ADD_TOPIC: Final = Operation(
    intent=AddTopicIntent,
    survey=survey_add_topic,
    plan=plan_add_topic,
    apply=apply_topic,
    writes=lambda _: WRITES,
    key="",
    own=True,
)
REMOVE_TOPIC: Final = Operation(
    intent=RemoveTopicIntent,
    survey=survey_kept_topic,
    plan=plan_remove_topic,
    apply=apply_remove_topic,
    writes=lambda _: WRITES,
    key="",
    own=True,
)
TOPIC_OFF: Final = Operation(
    intent=TopicOffIntent,
    survey=survey_kept_topic,
    plan=plan_topic_off,
    apply=apply_topic,
    writes=lambda _: WRITES,
    key="",
    own=True,
)
TOPIC_ON: Final = Operation(
    intent=TopicOnIntent,
    survey=survey_kept_topic,
    plan=plan_topic_on,
    apply=apply_topic,
    writes=lambda _: WRITES,
    key="",
    own=True,
)
OPERATIONS = (ADD_TOPIC, REMOVE_TOPIC, TOPIC_OFF, TOPIC_ON)
