"""One small case of every operation: a state to begin with, and an intent that finds something to do in it."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from streamops.model.acting import Actor, Confirmation, Environment
from streamops.model.delayed import DelayedBody
from streamops.model.entries import EPOCH, EntryId
from streamops.model.pools import PoolSupervisor
from streamops.operations.ack.intent import AckIntent
from streamops.operations.autoscale.intent import (
    LimitsIntent,
    OverrideIntent,
    PauseScalingIntent,
    ResumeScalingIntent,
    ScaleIntent,
)
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from streamops.operations.dlq_add.intent import AddDeadLettersIntent
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.groups_create.intent import CreateGroupIntent
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.jobs_cancel.intent import CancelJobIntent
from streamops.operations.nack.intent import NackIntent
from streamops.operations.pools.intent import PauseIntent, ResumeIntent
from streamops.operations.pools_rm.intent import RemovePoolIntent
from streamops.operations.publish.intent import PublishIntent
from streamops.operations.recover.intent import RecoverIntent
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.operations.restore.intent import RestoreIntent
from streamops.operations.streams_reclaim.intent import ReclaimIntent, Redelivery
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.topics.intent import (
    AddTopicIntent,
    RemoveTopicIntent,
    TopicOffIntent,
    TopicOnIntent,
)
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.undo.intent import UndoIntent
from streamops.wire.delayed import encode_body
from streamops.wire.keys import pool_key
from streamops.wire.pools.registry import register_supervisor
from streamops.wire.writes.jobs import job_key

STREAM, GROUP = "payments", "billing"
LETTERS = "{payments}:dlq"
PAYLOAD = "{payments}:payload:p"
QUEUE, BODIES = "{payments}:delayed", "{payments}:delayed:jobs"
WORKSHOP = Actor("ada", "desk", 1, "test", Environment.DEVELOPMENT)
NO_TIME = timedelta(0)

Command = Callable[..., object]


class Scene(NamedTuple):
    """Where an example is played: a console that may do everything, and a directory for files."""

    console: Console
    directory: Path


Ready = Callable[[Scene], Awaitable[Struct]]


class Example(NamedTuple):
    """One case of an operation.

    Attributes:
        operation: The operation's name.
        ready: Does what has to be done beforehand, and gives the intent.
    """

    operation: str
    ready: Ready


def add_shop_with_letters_and_queue(command: Command) -> None:
    """Six entries; ``billing`` holds three of them, two with w1; ``shipping`` took all; letters; a queue."""
    for number in range(1, 7):
        command("XADD", STREAM, f"{number}-0", "n", number)
    for group in (GROUP, "shipping"):
        command("XGROUP", "CREATE", STREAM, group, "0")
    command("XREADGROUP", "GROUP", GROUP, "w0", "COUNT", 3, "STREAMS", STREAM, ">")
    command("XACK", STREAM, GROUP, "1-0", "2-0")
    command("XREADGROUP", "GROUP", GROUP, "w1", "COUNT", 2, "STREAMS", STREAM, ">")
    command("XREADGROUP", "GROUP", "shipping", "w", "NOACK", "STREAMS", STREAM, ">")
    command("XGROUP", "CREATECONSUMER", STREAM, "shipping", "idler")
    for number in (1, 2):
        reserved = ("_so_origin", STREAM, "_so_origin_id", f"{number}-0", "_so_group", GROUP)
        command("XADD", LETTERS, f"9-{number}", "n", number, *reserved, "_so_reason", "rejected")
    command("ZADD", QUEUE, 1, "due", 9e12, "later")
    retry = DelayedBody("{payments}:retry:billing", ((b"n", b"2"),), GROUP, 2, "2-0")
    command(
        "HSET", BODIES, "due", encode_body(DelayedBody(STREAM, ((b"n", b"1"),))), "later", encode_body(retry)
    )


def asking(intent: Callable[[Path], Struct]) -> Ready:
    """Nothing to do beforehand."""

    async def ready(scene: Scene) -> Struct:
        return intent(scene.directory)

    return ready


def in_pool(ready: Ready) -> Ready:
    """The same, in a pool that has a supervisor."""

    async def staffed(scene: Scene) -> Struct:
        told = PoolSupervisor(id="s", at=EPOCH, host="desk", pid=1, aim=2, alive=2, ready=2)
        await register_supervisor(scene.console.engine._server, "p", told)
        return await ready(scene)

    return staffed


async def forgetting(scene: Scene) -> Struct:
    """A pool that was told something, decided about and learned about, and that nobody runs."""
    server = scene.console.engine._server
    for words in (
        ("HSET", "streamops:pool:p", "mode", "running", "term", "2"),
        ("HSET", "streamops:pools", "p", "controller"),
        ("HSET", "streamops:roster:p", "gone", "1 1 0 0.0 running"),
        ("XADD", "streamops:decisions:p", "*", "decision", "{}"),
        ("SET", "streamops:learned:p", "x"),
    ):
        await server.single(words[1], *words)
    return RemovePoolIntent(pool="p", backup=str(scene.directory / "pool.jsonl"))


def undoing(first: Struct) -> Ready:
    """Do something first, as somebody who may, and take it back."""

    async def ready(scene: Scene) -> Struct:
        prepared = await scene.console.prepare(first)
        outcome = await scene.console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
        return UndoIntent(audit_id=EntryId.parse(outcome.audit_id))

    return ready


def restoring(lost: Callable[[Path], Struct]) -> Ready:
    """Lose something first, and bring it back from its file."""

    async def ready(scene: Scene) -> Struct:
        intent = lost(scene.directory)
        prepared = await scene.console.prepare(intent)
        await scene.console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
        return RestoreIntent(file=getattr(intent, "backup"), new_ids=isinstance(intent, DeleteIntent))  # noqa: B009

    return ready


def deleting(place: Path) -> Struct:
    """Delete an entry."""
    return DeleteIntent(stream=STREAM, ids=(EntryId(2, 0),), backup=str(place / "deleted.jsonl"))


def recovering(place: Path) -> Struct:
    """Add a message that only the log of webhooks has."""
    log = place / "webhooks.log"
    log.write_text(
        '{"event": "message accepted", "timestamp": "2026-03-01T14:00:00Z", "topic": "remind", "id": "m-1", '
        f'"stream": "{STREAM}", "group": "callbacks", "due_at": "2100-01-01T00:00:00Z", "body": "x"}}\n'
    )
    return RecoverIntent(file=str(log))


def destroying(place: Path) -> Struct:
    """Destroy a group."""
    return DestroyGroupIntent(stream=STREAM, group=GROUP, backup=str(place / "group.jsonl"))


async def referring(scene: Scene) -> Struct:
    """A letter whose payload is kept beside the stream."""
    server = scene.console.engine._server
    await server.single(PAYLOAD, "SET", PAYLOAD, "v", "EX", 600)
    await server.single(LETTERS, "XADD", LETTERS, "*", "_so_origin", STREAM, "_so_payload", PAYLOAD)
    return ReplayIntent(queue=LETTERS, mode=ReplayMode.REPUBLISH)


async def cancelling(scene: Scene) -> Struct:
    """A job whose owner is gone."""
    server = scene.console.engine._server
    owner: dict[str, str | int] = {
        "owner": "bob@desk:9",
        "state": "running",
        "operation": "replay",
        "target": LETTERS,
        "requested": 2,
    }
    flat = [part for pair in owner.items() for part in pair]
    await server.single(job_key("left"), "HSET", job_key("left"), *flat)
    return CancelJobIntent(job="left")


async def scaling(scene: Scene) -> Struct:
    """A pool that was told to have two workers."""
    server = scene.console.engine._server
    await server.single(pool_key("p"), "HSET", pool_key("p"), "desired", "2")
    return ScaleIntent(pool="p", workers=3, current=2)


def reclaiming(way: Redelivery) -> Struct:
    """Reclaim a group; one of its entries was delivered too often."""
    return ReclaimIntent(
        stream=STREAM,
        group=GROUP,
        min_idle=timedelta(milliseconds=1),
        max_deliveries=1 if way is Redelivery.ADD else 2,
        redeliver=way,
    )


ACK = AckIntent(stream=STREAM, group=GROUP, ids=(EntryId(3, 0), EntryId(4, 0)))
CLAIM = ClaimIntent(stream=STREAM, group=GROUP, to="w2", min_idle=NO_TIME)
NACK = NackIntent(stream=STREAM, group=GROUP, ids=(EntryId(3, 0),))
REWIND = RewindGroupIntent(stream=STREAM, group=GROUP, to_id=EntryId(1, 0))
CREATE = CreateGroupIntent(stream=STREAM, group="new", at="0")
REMOVE = RemoveConsumerIntent(stream=STREAM, group=GROUP, consumer="w1", to="w2")
FIELDS = ((b"n", b"7"),)

ADD_TOPIC = AddTopicIntent(name="remind", callback="https://hooks.example.net/remind")


def after(*intents: Struct) -> Ready:
    """The last of the intents, after the others were done."""

    async def ready(scene: Scene) -> Struct:
        for intent in intents[:-1]:
            await scene.console.apply(await scene.console.prepare(intent), Confirmation(yes=True))
        return intents[-1]

    return ready


def after_adding(*intents: Struct) -> Ready:
    """The same, after a topic was added."""
    return after(ADD_TOPIC, *intents)


EXAMPLES = {
    "ack": Example("ack", asking(lambda _: ACK)),
    "add to the dead letters": Example(
        "dlq.add",
        asking(
            lambda _: AddDeadLettersIntent(stream=STREAM, group=GROUP, ids=(EntryId(3, 0), EntryId(4, 0)))
        ),
    ),
    "claim": Example("claim", asking(lambda _: CLAIM)),
    "claim by ID": Example(
        "claim",
        asking(
            lambda _: ClaimIntent(stream=STREAM, group=GROUP, to="w2", min_idle=NO_TIME, ids=(EntryId(3, 0),))
        ),
    ),
    "nack": Example("nack", asking(lambda _: NACK)),
    "undo of claim": Example("undo", undoing(CLAIM)),
    "undo of nack": Example("undo", undoing(NACK)),
    "undo of rewind": Example("undo", undoing(REWIND)),
    "undo of rm consumer": Example("undo", undoing(REMOVE)),
    "run-now": Example("delayed.run-now", asking(lambda _: RunDelayedIntent(stream=STREAM, every=True))),
    "cancel": Example(
        "delayed.cancel",
        asking(
            lambda place: CancelDelayedIntent(stream=STREAM, every=True, backup=str(place / "delayed.jsonl"))
        ),
    ),
    "publish": Example("publish", asking(lambda _: PublishIntent(stream=STREAM, pairs=FIELDS, maxlen=100))),
    "recover": Example("topics.recover", asking(recovering)),
    "publish later": Example(
        "publish",
        asking(lambda _: PublishIntent(stream=STREAM, pairs=FIELDS, delay=timedelta(hours=1), id="x")),
    ),
    "trim": Example("trim", asking(lambda _: TrimIntent(stream=STREAM, maxlen=0, exact=True))),
    "trim about": Example(
        "trim", asking(lambda _: TrimIntent(stream=STREAM, minid=EntryId(4, 0), exact=True))
    ),
    "trim unsafe": Example(
        "trim",
        asking(
            lambda place: TrimIntent(
                stream=STREAM, maxlen=1, exact=True, safe=False, backup=str(place / "trimmed.jsonl")
            )
        ),
    ),
    "rm-entry": Example(
        "streams.rm-entry",
        asking(deleting),
    ),
    "replay for all": Example(
        "replay", asking(lambda _: ReplayIntent(queue=LETTERS, mode=ReplayMode.REPUBLISH))
    ),
    "replay to the group": Example(
        "replay", asking(lambda _: ReplayIntent(queue=LETTERS, mode=ReplayMode.REDELIVER))
    ),
    "replay as a retry": Example(
        "replay", asking(lambda _: ReplayIntent(queue=LETTERS, mode=ReplayMode.RETRY))
    ),
    "replay with payloads": Example("replay", referring),
    "purge": Example(
        "dlq.purge", asking(lambda place: PurgeIntent(queue=LETTERS, backup=str(place / "letters.jsonl")))
    ),
    "create": Example("groups.create", asking(lambda _: CREATE)),
    "create with a stream": Example(
        "groups.create",
        asking(lambda _: CreateGroupIntent(stream="payments:new", group="new", mkstream=True)),
    ),
    "rewind": Example("groups.rewind", asking(lambda _: REWIND)),
    "rewind to the start": Example(
        "groups.rewind", asking(lambda _: RewindGroupIntent(stream=STREAM, group=GROUP, to_start=True))
    ),
    "destroy": Example(
        "groups.destroy",
        asking(destroying),
    ),
    "rm consumer": Example("consumers.rm", asking(lambda _: REMOVE)),
    "restore entries": Example("restore", restoring(deleting)),
    "cancel a job": Example("jobs.cancel", cancelling),
    "reclaim by adding": Example("streams.reclaim", asking(lambda _: reclaiming(Redelivery.ADD))),
    "reclaim by claiming": Example("streams.reclaim", asking(lambda _: reclaiming(Redelivery.CLAIM))),
    "add a topic": Example("topics.add", asking(lambda _: ADD_TOPIC)),
    "topic off": Example("topics.off", after_adding(TopicOffIntent(name="remind"))),
    "topic on": Example(
        "topics.on", after_adding(TopicOffIntent(name="remind"), TopicOnIntent(name="remind"))
    ),
    "remove a topic": Example("topics.rm", after_adding(RemoveTopicIntent(name="remind"))),
    "pause": Example("pause", in_pool(asking(lambda _: PauseIntent(pool="p")))),
    "resume": Example("resume", in_pool(after(PauseIntent(pool="p"), ResumeIntent(pool="p")))),
    "scale": Example("scale.set", scaling),
    "scale for the first time": Example(
        "scale.set", in_pool(asking(lambda _: ScaleIntent(pool="p", workers=3)))
    ),
    "remove a pool": Example("pools.rm", forgetting),
    "pause scaling": Example("autoscale.pause", in_pool(asking(lambda _: PauseScalingIntent(pool="p")))),
    "pause scaling for a time": Example(
        "autoscale.pause", in_pool(asking(lambda _: PauseScalingIntent(pool="p", span=timedelta(hours=1))))
    ),
    "resume scaling": Example(
        "autoscale.resume", in_pool(after(OverrideIntent(pool="p", workers=4), ResumeScalingIntent(pool="p")))
    ),
    "override": Example("autoscale.override", in_pool(asking(lambda _: OverrideIntent(pool="p", workers=0)))),
    "limits": Example("autoscale.limits", in_pool(asking(lambda _: LimitsIntent(pool="p", maximum=9)))),
    "prune": Example(
        "consumers.prune",
        asking(
            lambda _: PruneConsumersIntent(stream=STREAM, group="shipping", idle=timedelta(milliseconds=1))
        ),
    ),
}
