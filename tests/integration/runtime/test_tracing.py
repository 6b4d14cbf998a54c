"""Spans of publishing and handling, linked by what entries carry, on every server."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode, TraceState, get_current_span, use_span
from opentelemetry.trace.span import NonRecordingSpan, SpanContext, TraceFlags

from streamops.model.acting import Confirmation
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent, ReplayMode
from streamops.runtime import Delays, Entry, RetryLater, Skip, Streamops
from streamops.runtime.entry import TRACE
from streamops.runtime.handlers import BatchCall
from streamops.runtime.tracing import trace
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer


class Order(msgspec.Struct):
    order_id: str


class Tracing:
    """Where an application's spans go."""

    def __init__(self, app: Streamops) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        trace(app, self.provider)

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def one(self, name: str) -> ReadableSpan:
        (span,) = self.named(name)
        return span


def context_of(span: ReadableSpan) -> SpanContext:
    context: SpanContext | None = span.context
    assert context is not None
    return context


def linked(span: ReadableSpan) -> list[int]:
    return [link.context.span_id for link in span.links]


def told(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


async def test_handling_is_linked_to_publishing(server: RunningServer) -> None:
    app, within = Streamops(server.options), list[int]()
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0")
    async def handle(order: Order, entry: Entry) -> None:
        assert (order, TRACE in dict(entry.fields)) == (Order("a"), False)
        within.append(get_current_span().get_span_context().span_id)

    async with app.publisher() as publisher:
        born = await publisher.publish("orders", Order("a"))
    async with working(app) as worker:
        await until(lambda: is_idle(server, "orders"))
        consumer = worker.id
    sent, handled = tracing.one("send orders"), tracing.one("process orders")
    assert (sent.kind, handled.kind) == (SpanKind.PRODUCER, SpanKind.CONSUMER)
    assert linked(handled) == [context_of(sent).span_id]
    assert handled.parent is None
    assert context_of(handled).trace_id != context_of(sent).trace_id
    assert within == [context_of(handled).span_id]
    assert told(sent) == {
        "messaging.system": "redis",
        "messaging.destination.name": "orders",
        "messaging.operation.name": "send",
        "messaging.operation.type": "send",
    }
    assert told(handled) == {
        "messaging.system": "redis",
        "messaging.destination.name": "orders",
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.consumer.group.name": "g",
        "messaging.client.id": consumer,
        "messaging.message.id": born,
        "streamops.attempt": 1,
        "streamops.origin_id": born,
    }


async def test_the_field_is_a_traceparent_and_a_tracestate(server: RunningServer) -> None:
    app = Streamops(server.options)
    Tracing(app)
    above = SpanContext(
        0xAB, 0xCD, is_remote=True, trace_flags=TraceFlags(1), trace_state=TraceState([("shop", "a b")])
    )
    async with app.publisher() as publisher:
        with use_span(NonRecordingSpan(above)):
            await publisher.publish("orders", {"n": 1}, fields={"by": "me"})
    ((_, parts),) = server.command("XRANGE", "orders", "-", "+")
    assert parts[:4] == [b"n", b"1", b"by", b"me"]
    assert parts[4] == b"_so_trace"
    parent, _, state = parts[5].partition(b" ")
    version, trace_id, _, flags = parent.split(b"-")
    assert (version, trace_id, flags, state) == (b"00", b"ab".zfill(32), b"01", b"shop=a b")


async def test_the_link_survives_delays_retries_dead_letters_and_replays(server: RunningServer) -> None:
    app, fails = Streamops(server.options), [True]
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0", retry=Delays((0.02,)), max_attempts=2)
    async def handle(_: Entry) -> None:
        if fails[0]:
            raise ValueError("no such customer")

    async with app.publisher() as publisher, working(app):
        await publisher.publish("orders", Order("a"), delay=0.02)
        await until(lambda: server.command("XLEN", "{orders}:dlq") == 1)
        fails[0] = False
        async with await Console.open(server.options, actor=WORKSHOP) as console:
            for mode in (ReplayMode.RETRY, ReplayMode.REPUBLISH):
                prepared = await console.prepare(ReplayIntent(queue="{orders}:dlq", mode=mode, count=1))
                await console.apply(prepared, Confirmation(yes=True))
                await until(lambda: is_idle(server, "orders"))
                if mode is ReplayMode.RETRY:
                    fails[0] = True
                    await publisher.publish("orders", Order("b"))
                    await until(lambda: server.command("XLEN", "{orders}:dlq") == 1)
                    fails[0] = False
        await until(lambda: is_idle(server, "orders"))
    first, second = tracing.named("send orders")
    handled = tracing.named("process orders")
    assert [told(span)["streamops.attempt"] for span in handled] == [1, 2, 1, 1, 2, 1]
    assert [linked(span) for span in handled] == [[context_of(first).span_id]] * 3 + [
        [context_of(second).span_id]
    ] * 3


async def test_what_a_handler_raises_is_told(server: RunningServer) -> None:
    app = Streamops(server.options)
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0", retry=None, timeout=0.05)
    async def handle(order: Order, entry: Entry) -> None:
        match order.order_id:
            case "skip":
                raise Skip
            case "later" if entry.attempt == 1:
                raise RetryLater(0.01)
            case "hangs":
                await asyncio.Event().wait()
            case "bad":
                raise ValueError("no such customer")

    async with app.publisher() as publisher, working(app):
        for what in ("skip", "later", "bad", "hangs"):
            await publisher.publish("orders", Order(what))
        await until(lambda: len(tracing.named("process orders")) == 5)
        await until(lambda: is_idle(server, "orders"))
    failed = {
        str(told(span)["error.type"]): (span.status.description, [event.name for event in span.events])
        for span in tracing.named("process orders")
        if span.status.status_code is StatusCode.ERROR
    }
    assert failed == {"ValueError": ("no such customer", ["exception"]), "CancelledError": ("", [])}


async def test_a_batch_is_one_span_with_a_link_to_each(server: RunningServer) -> None:
    app = Streamops(server.options)
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0", batch=10, concurrency=1)
    async def handle(orders: list[Order]) -> None:
        pass

    async with app.publisher() as publisher:
        await publisher.publish("orders", Order("a"))
        await publisher.publish_many("orders", [Order("b"), Order("c")])
    async with working(app):
        await until(lambda: is_idle(server, "orders"))
    alone, many = tracing.named("send orders")
    handled = tracing.one("process orders")
    assert told(many)["messaging.batch.message_count"] == 2
    assert told(handled)["messaging.batch.message_count"] == 3
    assert linked(handled) == [context_of(one).span_id for one in (alone, many, many)]


async def test_a_span_goes_on_in_a_thread_and_in_what_is_published_there(server: RunningServer) -> None:
    app, within = Streamops(server.options), list[int]()
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0", threads=True, concurrency=1)
    def in_thread(_: Order) -> None:
        within.append(get_current_span().get_span_context().span_id)

    async with app.publisher() as publisher:

        @app.handler("more", group="g", start="0")
        async def onwards(order: Order) -> None:
            await publisher.publish("orders", order)

        await publisher.publish("more", Order("a"))
        async with working(app):
            await until(lambda: within)
            await until(lambda: is_idle(server, "orders"))
    assert within == [context_of(tracing.one("process orders")).span_id]
    parent = tracing.one("send orders").parent
    assert parent is not None
    assert parent.span_id == context_of(tracing.one("process more")).span_id


async def test_whatever_spans_tell_can_be_exported(server: RunningServer) -> None:
    app = Streamops(server.options)
    tracing = Tracing(app)

    @app.handler("orders\udcff", group="\udcfe", start="0", retry=None)
    async def handle(_: Entry) -> None:
        raise ValueError("no \udcfd \ud800")

    async with app.publisher() as publisher, working(app):
        await publisher.publish("orders\udcff", {"n": 1})
        await until(lambda: tracing.named("process orders\\xff"))
    (sent,), (handled,) = tracing.named("send orders\\xff"), tracing.named("process orders\\xff")
    assert told(handled)["messaging.consumer.group.name"] == "\\xfe"
    assert handled.status.description == "no \\xfd \\ud800"
    for text in (sent.to_json(), handled.to_json(), str(handled.events[0].attributes)):
        assert text.encode()


@pytest.mark.parametrize(
    "written",
    [b"", b"\xff\x00", b"00-0-0-01", b"x" * 100_000, b"00-" + b"0" * 32 + b"-" + b"0" * 16 + b"-01", b" a=b"],
)
async def test_what_strangers_write_there_is_no_link(server: RunningServer, written: bytes) -> None:
    app = Streamops(server.options)
    tracing = Tracing(app)

    @app.handler("orders", group="g", start="0")
    async def handle(entry: Entry) -> None:
        pass

    server.command("XADD", "orders", "*", "n", "1", "_so_trace", written)
    async with working(app):
        await until(lambda: is_idle(server, "orders"))
    handled = tracing.one("process orders")
    assert (linked(handled), handled.status.status_code) == ([], StatusCode.UNSET)


async def test_a_failed_publication_is_told(server: RunningServer) -> None:
    app = Streamops(server.options)
    tracing = Tracing(app)
    async with app.publisher() as publisher:
        with pytest.raises(Exception, match="negative"):
            await publisher.publish("orders", {"n": 1}, delay=timedelta(seconds=-1))
    assert tracing.one("send orders").status.status_code is StatusCode.ERROR


async def test_batch_middleware_is_around_batches_the_first_outermost(server: RunningServer) -> None:
    app, seen = Streamops(server.options), list[str]()

    @app.batch_middleware
    async def outer(entries: Sequence[Entry], call: BatchCall) -> object:
        seen.append(f"outer {len(entries)}")
        return await call(entries)

    @app.batch_middleware
    async def inner(entries: Sequence[Entry], call: BatchCall) -> object:
        seen.append("inner")
        return await call(entries)

    @app.handler("orders", group="g", start="0", batch=10, concurrency=1)
    async def handle(_: list[Order]) -> None:
        seen.append("handler")

    server.command("XADD", "orders", "*", "order_id", "a")
    async with working(app):
        await until(lambda: is_idle(server, "orders"))
    assert seen == ["outer 1", "inner", "handler"]
