"""D: a task queue on streams, whose payloads are kept beside the stream."""

import asyncio
from datetime import timedelta

import msgspec
import pytest

from streamops.errors import PublishError
from streamops.runtime import Call, Entry, Payload, Reject, Schema, Streamops
from streamops.runtime.events import Completed, DeadLettered, Duplicate, Event, Retried
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import eventually
from tests.support.servers import RunningServer

BESIDE = Payload(timedelta(minutes=5), max_inline=0)


class Task(msgspec.Struct):
    name: str
    size: int = 0


def payloads(server: RunningServer) -> list[bytes]:
    return list(server.command("KEYS", "{tasks}:payload:*"))


async def test_d1_a_payload_is_kept_with_its_entry_or_not_at_all(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    """The stream carries a reference, the payload a time to live; without the entry there is no payload."""
    async with Streamops(redis).publisher(payload=BESIDE) as publisher:
        await publisher.publish("tasks", Task("a"))
        ((_, fields),) = server.command("XRANGE", "tasks", "-", "+")
        assert [fields[0], fields[1]] == [b"_so_payload", *payloads(server)]
        assert 0 < server.command("PTTL", fields[1]) <= 300_000
        server.command("DEL", "tasks", *payloads(server))
        server.command("SET", "tasks", "no stream")
        with pytest.raises(PublishError, match="is not a stream"):
            await publisher.publish("tasks", Task("b"))
    assert payloads(server) == []


async def test_d2_a_missing_payload_is_a_dead_letter(redis: ConnectionOptions, server: RunningServer) -> None:
    app = Streamops(redis)
    async with app.publisher(payload=BESIDE) as publisher:
        await publisher.publish("tasks", Task("a"))
    server.command("DEL", *payloads(server))

    @app.handler("tasks", group="workers", start="0")
    async def handle(task: Task) -> None:
        raise AssertionError(task)

    async with staged(app, redis) as stage:
        await stage.idle()
        (letter,) = await stage.letters("tasks")
    assert (letter.reason, letter.attempt) == ("payload-missing", 1)


async def test_d3_a_failure_stays_pending_is_tried_twice_more_and_given_up(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    """Unless whoever catches it takes over."""
    app, attempts, caught = Streamops(), list[tuple[str, int]](), list[str]()

    @app.middleware
    async def catch(entry: Entry, call: Call) -> object:
        try:
            return await call(entry)
        except LookupError as error:
            caught.append(str(error))
            return None

    @app.handler("tasks", group="workers", retry=0.01, passive=True, max_deliveries=3)
    async def handle(task: Task, entry: Entry) -> None:
        attempts.append((task.name, entry.attempt))
        assert server.command("XPENDING", "tasks", "workers")[0] >= 1
        raise LookupError(task.name) if task.name == "mine" else ValueError("broken")

    async with staged(app, redis) as stage:
        await stage.publish("tasks", Task("mine"))
        await stage.publish("tasks", Task("theirs"))
        await stage.idle()
        (letter,) = await stage.letters("tasks")
    assert sorted(attempts) == [("mine", 1), ("theirs", 1), ("theirs", 2), ("theirs", 3)]
    assert caught == ["mine"]
    assert letter.error == "ValueError: broken"


async def test_d4_payloads_are_deleted_with_batches_of_acknowledgements(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    app, gate, sizes = Streamops(), asyncio.Event(), list[int]()

    @app.handler("tasks", group="workers", concurrency=8)
    async def handle(task: Task) -> None:
        sizes.append(task.size)
        if task.size == 0:
            await gate.wait()

    async with staged(app, redis) as stage, app.publisher(payload=BESIDE) as publisher:
        await publisher.publish_many("tasks", (Task("t", size) for size in range(300)))
        await eventually(lambda: len(payloads(server)) == 1)
        # What is not done with keeps its payload.
        assert server.command("XPENDING", "tasks", "workers")[0] == 1
        gate.set()
        await stage.idle()
    assert sorted(sizes) == list(range(300))
    assert payloads(server) == []


async def test_d5_schemas_choose_the_stream_and_tasks_have_a_timeout(redis: ConnectionOptions) -> None:
    app, seen = Streamops(), list[str]()
    schemas = [Schema("tasks", Task, name="task"), Schema("photos", bytes, name="photo")]

    @app.handler("tasks", group="workers", timeout=0.05, retry=None)
    async def handle(task: Task) -> None:
        seen.append(task.name)
        if task.name == "endless":
            await asyncio.Event().wait()

    @app.handler("photos", group="workers")
    async def develop(photo: bytes) -> None:
        seen.append(photo.hex())

    async with staged(app, redis) as stage, app.publisher(schemas=schemas) as publisher:
        await publisher.publish("task", Task("one"))
        await publisher.publish_many("task", [Task("two"), Task("endless")])
        await publisher.publish("photo", b"\xff\xd8")
        with pytest.raises(PublishError, match="task takes Task"):
            await publisher.publish("task", b"\xff\xd8")
        await stage.idle()
        (letter,) = await stage.letters("tasks")
    assert sorted(seen) == ["endless", "ffd8", "one", "two"]
    assert letter.reason == "timeout"


async def test_d6_interceptors_stand_around_handlers_and_events_tell_what_happened(
    redis: ConnectionOptions,
) -> None:
    """One checks arguments, a key makes it once, a subscriber is told of each kind of event."""
    app, told, done = Streamops(), list[str](), list[str]()

    @app.on(Event)
    def tell(event: Event) -> None:
        if isinstance(event, (Completed, Retried, DeadLettered, Duplicate)):
            told.append(type(event).__name__)

    @app.middleware
    async def check(entry: Entry, call: Call) -> object:
        if entry.get("token") != b"secret":
            raise Reject("no token")
        return await call(entry)

    @app.handler("tasks", group="workers", key="name", concurrency=1)
    async def handle(task: Task) -> None:
        done.append(task.name)

    async with staged(app, redis) as stage:
        for name, token in (("a", "secret"), ("a", "secret"), ("b", "none")):
            await stage.publish("tasks", Task(name), fields={"token": token})
        await stage.idle()
    assert done == ["a"]
    assert sorted(told) == ["Completed", "DeadLettered", "Duplicate"]


@pytest.mark.every_server("the requirement says so")
async def test_d7_it_is_the_same_on_every_server(server: RunningServer) -> None:
    """Redis and Valkey: a hundred pushes, one that fails, one that waits, all with payloads."""
    app, done = Streamops(), set[str]()

    @app.handler("tasks", group="workers", retry=0.01, key="name")
    async def handle(task: Task, entry: Entry) -> None:
        if task.name == "t-7" and entry.attempt == 1:
            raise ConnectionError("not yet")
        done.add(task.name)

    async with staged(app, server.options) as stage, app.publisher(payload=BESIDE) as publisher:
        await publisher.publish_many("tasks", (Task(f"t-{number}") for number in range(100)))
        await publisher.publish("tasks", Task("later"), delay=0.01)
        await stage.idle()
        assert await stage.letters("tasks") == []
    assert len(done) == 101
    assert payloads(server) == []
