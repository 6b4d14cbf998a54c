"""OpenTelemetry: which call published an entry, and what handling it led to, as spans.

    from streamops.runtime.tracing import trace
    trace(app)

A publisher writes the context of its span into the field ``_so_trace`` of each entry: W3C's ``traceparent`` as it stands
in an HTTP header and, if there is any, a space and ``tracestate``. The field is the entry's own, so that it comes along
wherever the entry goes: through a delay, a retry, the dead letters and a replay. Every handling is a trace of its
own, with a link to the span that published: an entry may be handled days later, several times, by many groups.

Nothing of this is imported, or costs anything, if it is not asked for.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from traceback import format_exception
from typing import Any, Final

try:
    from opentelemetry.context import Context
    from opentelemetry.trace import (
        Link,
        Span,
        SpanKind,
        StatusCode,
        TracerProvider,
        get_current_span,
        get_tracer_provider,
    )
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
    from opentelemetry.util.types import AttributeValue
except ImportError as error:
    raise ImportError("tracing takes OpenTelemetry: pip install 'streamops[otel]'") from error

from streamops.errors import RetryLater, Skip
from streamops.model.text import encodable
from streamops.runtime.app import Streamops
from streamops.runtime.entry import TRACE, Entry
from streamops.runtime.handlers import BatchCall, Call

SCOPE: Final = "streamops"
LONGEST: Final = 1024
"""Bytes of a context that are looked at: W3C's longest are half of that."""
STEERING: Final = (Skip, RetryLater)
"""What handlers raise when nothing went wrong."""

_PROPAGATOR: Final = TraceContextTextMapPropagator()
_NOWHERE: Final = Context()


def trace(app: Streamops, provider: TracerProvider | None = None) -> None:
    """Have an application's publishers and handlers traced; before its workers and publishers are made.

    Middleware declared before this runs outside of the spans, middleware declared after it inside.

    Args:
        app: The application.
        provider: Where its spans go; OpenTelemetry's global one unless given.
    """
    tracing = _Tracing(provider or get_tracer_provider())
    app.middleware(tracing.handle)
    app.batch_middleware(tracing.handle_batch)
    app.around_publishing(tracing.publish)


class _Tracing:
    """What is put around handlers and publishers."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(SCOPE)

    async def handle(self, entry: Entry, call: Call) -> Any:  # noqa: ANN401 - as the handler returns
        """Handle one entry in a span."""
        told = _about([entry]) | {
            "messaging.message.id": entry.id,
            "streamops.attempt": entry.attempt,
            "streamops.origin_id": encodable(entry.origin_id),
        }
        with self._processing([entry], told):
            return await call(entry)

    async def handle_batch(self, entries: Sequence[Entry], call: BatchCall) -> Any:  # noqa: ANN401 - as the handler returns
        """Handle many entries in one span, linked to all that published them."""
        told = _about(entries) | {"messaging.batch.message_count": len(entries)}
        with self._processing(entries, told):
            return await call(entries)

    @contextmanager
    def publish(self, stream: str, count: int) -> Iterator[Sequence[bytes]]:
        """Publish in a span, whose context is what each entry is to carry."""
        name = encodable(stream)
        told: dict[str, AttributeValue] = {
            "messaging.system": "redis",
            "messaging.destination.name": name,
            "messaging.operation.name": "send",
            "messaging.operation.type": "send",
        }
        if count > 1:
            told["messaging.batch.message_count"] = count
        with self._tracer.start_as_current_span(f"send {name}", kind=SpanKind.PRODUCER, attributes=told):
            context = written_context()
            yield (TRACE, context) if context else ()

    @contextmanager
    def _processing(self, entries: Sequence[Entry], told: dict[str, AttributeValue]) -> Iterator[None]:
        links = [link for entry in entries if (link := link_of(entry)) is not None]
        name = f"process {encodable(entries[0].stream)}"
        with self._tracer.start_as_current_span(
            name,
            # A trace of its own, whatever was going on where the worker was started.
            context=_NOWHERE,
            kind=SpanKind.CONSUMER,
            attributes=told,
            links=links,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield
            except BaseException as error:
                _blame(span, error)
                raise


def written_context() -> bytes:
    """The current span's context as the field ``_so_trace`` holds it; empty if there is no span."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier)
    return " ".join(carrier[name] for name in ("traceparent", "tracestate") if carrier.get(name)).encode()


def link_of(entry: Entry) -> Link | None:
    """A link to the span that published an entry; none if the entry names none."""
    written = entry.get(TRACE)
    if not written or len(written) > LONGEST:
        return None
    parent, _, state = written.decode("ascii", "replace").partition(" ")
    context = _PROPAGATOR.extract({"traceparent": parent, "tracestate": state}, _NOWHERE)
    found = get_current_span(context).get_span_context()
    return Link(found) if found.is_valid else None


def _about(entries: Sequence[Entry]) -> dict[str, AttributeValue]:
    first = entries[0]
    return {
        "messaging.system": "redis",
        "messaging.destination.name": encodable(first.stream),
        "messaging.operation.name": "process",
        "messaging.operation.type": "process",
        "messaging.consumer.group.name": encodable(first.group),
        "messaging.client.id": encodable(first.consumer),
    }


def _blame(span: Span, error: BaseException) -> None:
    """Note what a handler raised."""
    if isinstance(error, STEERING):
        return
    span.set_attribute("error.type", type(error).__qualname__)
    span.set_status(StatusCode.ERROR, encodable(str(error)))
    if isinstance(error, Exception):
        # As the SDK has it, but such that every exporter can send it.
        told = {"message": str(error), "stacktrace": "".join(format_exception(error))}
        span.record_exception(error, {f"exception.{name}": encodable(text) for name, text in told.items()})
