"""One handler at work: its consumers, claimers and executor."""

from collections.abc import Iterator

from streamops.runtime.calling import Threads, compile_batch, compile_call
from streamops.runtime.claiming import Claimer
from streamops.runtime.consumer import StreamConsumer
from streamops.runtime.context import WorkerContext
from streamops.runtime.counts import HandlerCounters, HandlerCounts
from streamops.runtime.dedup import Deduplicator
from streamops.runtime.entry import ConsumerStream, Entry
from streamops.runtime.executor import Executor
from streamops.runtime.groups import Groups
from streamops.runtime.handlers import Handler, parameters_of
from streamops.runtime.outcomes import Outcomes


class HandlerRunner:
    """One handler at work.

    Attributes:
        handler: The handler.
        counts: Its counters.
        executor: Its slots.
        consumers: One for each stream.
        claimers: One for each consumer.
    """

    def __init__(
        self,
        handler: Handler,
        context: WorkerContext,
        groups: Groups,
        threads: Threads,
    ) -> None:
        self._threads = threads
        self.handler = handler
        self.counts = HandlerCounters()
        outcomes = Outcomes(handler, context, groups, self.counts)
        self.executor = Executor(handler, outcomes, self.counts)
        self._dedup = dedup = Deduplicator(context, self.executor)
        self.consumers = tuple(
            StreamConsumer(stream, weight, context, self.executor, groups=groups, dedup=dedup)
            for stream, weight in handler.streams
        )
        self.claimers = tuple(Claimer(consumer) for consumer in self.consumers)

    def prepare(self, state: object) -> None:
        """Compile the function.

        Args:
            state: What the application's lifespan yielded.

        Raises:
            SettingsError: The function takes a parameter that nothing provides.
        """
        handler, executor = self.handler, self.executor
        parameters = parameters_of(handler.function, batch=handler.batch > 1, state=state)
        self._dedup.prepare(parameters.body)
        if handler.batch > 1:
            executor.batch_call = compile_batch(handler, parameters, self._threads)
        else:
            executor.call = compile_call(handler, parameters, self._threads)

    @property
    def streams(self) -> Iterator[ConsumerStream]:
        """All streams that it reads, with their retry streams."""
        return (stream for consumer in self.consumers for stream in consumer.streams)

    def stop(self) -> list[Entry]:
        """Start no more entries; those in flight that no handler has started."""
        self.executor.close()
        started = {entry for slot in self.executor.slots for entry in slot.entries}
        for stream in self.streams:
            started.update(stream.unconfirmed)
        return [
            entry for stream in self.streams for entry in stream.in_flight.values() if entry not in started
        ]

    def count_lost(self) -> None:
        """Count entries read with NOACK that were not handled when the worker ended."""
        self.counts.noack_lost += sum(stream.noack_open for stream in self.streams)

    def snapshot(self) -> HandlerCounts:
        """The handler's counters now."""
        handler, executor = self.handler, self.executor
        streams = (stream for stream, _ in handler.streams)
        busy, slots = executor.busy, len(executor.slots)
        return self.counts.snapshot(streams, handler.group, handler.name, busy=busy, slots=slots)
