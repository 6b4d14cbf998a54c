"""From a reading to samples. Pure: what a ``Sampler`` keeps between scrapes are labels, which saves making them."""

from collections.abc import Sequence

from streamops.exporter.metrics.gathering import Gathered, Gatherer
from streamops.exporter.metrics.guards import NO_GUARDS, Guards, Omitted
from streamops.exporter.metrics.labels import Labels
from streamops.exporter.metrics.other_columns import (
    exporter_blocks,
    gap_block,
    queue_block,
    server_blocks,
    worker_blocks,
)
from streamops.exporter.metrics.pool_columns import pool_blocks
from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.samples import Block, Samples, milliseconds
from streamops.exporter.metrics.stream_columns import (
    consumer_block,
    dead_letter_block,
    group_block,
    newest_of,
    status_block,
    stream_block,
    uncounted_block,
)
from streamops.model.consumer_table import Sightings
from streamops.model.observation import Observation


class Sampler:
    """Makes samples of readings of one server.

    Args:
        guards: What is shown of them.
    """

    def __init__(self, guards: Guards = NO_GUARDS) -> None:
        self._gatherer = Gatherer(guards)
        self._guards = guards
        self._shown: tuple[tuple[Sequence[Labels], Sequence[Sightings], bool], float, Block] | None = None

    def sample(self, reading: Reading) -> Samples:
        """The samples of a reading; those of the exporter alone where there is no observation."""
        observation, health = reading.observation, reading.health
        if observation is None:
            return exporter_blocks(health, None, Omitted())
        blocks, omitted = self._observed(observation, reading)
        return (*blocks, *exporter_blocks(health, observation.snapshot, omitted))

    def _observed(self, observation: Observation, reading: Reading) -> tuple[Samples, Omitted]:
        found = self._gatherer.gather(observation, reading.counters)
        extras, server = reading.extras, observation.snapshot.server
        now = milliseconds(observation.snapshot.collected_at)
        # Idle times reach a replica only with deliveries, so there they tell nothing of who is alive.
        on_replica, sees_asking = server.is_replica, server.sees_polls
        blocks = (
            stream_block(found, extras, now),
            group_block(found, now, on_replica=on_replica, sees_asking=sees_asking),
            status_block(found),
            uncounted_block(found),
            self._consumers(found, now, on_replica=on_replica),
            dead_letter_block(found, now),
            queue_block(extras, str(server.database)),
            *worker_blocks(extras),
            *pool_blocks(extras),
            *server_blocks(server),
            gap_block(observation.snapshot.gaps, extras.unread, self._guards),
        )
        return blocks, found.omitted

    def _consumers(self, found: Gathered, now: int, *, on_replica: bool) -> Block:
        """What is told of consumers: the same as before, where they are and none was seen ahead of the clock."""
        shown = found.consumer_labels, found.consumers, on_replica
        if self._shown is None or self._shown[1] > now or shown != self._shown[0]:
            block = consumer_block(*shown[:2], on_replica=on_replica)
            if (newest := newest_of(block)) > now:
                self._shown = None
                return consumer_block(*shown[:2], on_replica=on_replica, ahead_of=now)
            self._shown = shown, newest, block
        return self._shown[2]


def samples(reading: Reading, guards: Guards = NO_GUARDS) -> Samples:
    """The samples of one reading; whoever has many of the same server asks one ``Sampler`` for all."""
    return Sampler(guards).sample(reading)
