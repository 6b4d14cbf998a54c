"""What happened to a server, reading by reading, and what the health rules find in it: one table for the rules and for their alerts.

``tests/unit/monitor/test_rules.py`` runs each series through the rules. ``tests/system/dashboards/test_rules.py`` has the exporter show the
same readings, and has Prometheus's own ``promtool`` say which alerts fire.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.delayed import DelayedQueue
from streamops.model.entries import ZERO_ID, EntryId, PendingEntry
from streamops.model.lag import TimeLag
from streamops.model.observation import FindingCode, Health, Observation
from streamops.model.streams import NO_TIME, ConsumerGroup, Snapshot, StreamRole, StreamState
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import NOW, consumer, exact, minutes, node, seconds, snapshot, stream

LETTERS: Final = {Health.OK: ".", Health.WARN: "w", Health.CRITICAL: "c"}
_PIECE: Final = re.compile(r"(\d+)(?:([+-]\d+))?(?:x(\d+))?")


class Series(Struct, frozen=True, kw_only=True):
    """Readings of one stream with one group and one consumer, and what is found in them.

    Numbers are series in promtool's notation, ``start+step xtimes``; one that is shorter than the others stays at its last value.

    Attributes:
        name: What happens.
        found: By code, a letter for each reading: ``.`` nothing, ``w`` a warning, ``c`` critical.
        step: Time between two readings.
        added: Entries ever added; each has the ID of the reading that shows it first.
        read: Of these, how many the group has been given.
        acked: Of these, how many were acknowledged.
        trimmed: Of those that were added, how many trimming took.
        left: Whether the first entry stays pending, whatever is acknowledged after it.
        deliveries: How often the first pending entry was delivered.
        age: How long before the first reading the entries of that reading were added, and those that were given were given.
        consumers: How many consumers the group has.
        idle: For how many seconds the consumer has not asked.
        streams: Whether the stream is there.
        role: What the stream is for.
        server: Which server answers.
        memory: Percent of ``maxmemory`` in use.
        policy: Its ``maxmemory-policy``.
        late: For how many seconds the first of the delayed messages has been due; 0 where none is.
        foreign: Members of the delayed queue that another program wrote.
    """

    name: str
    found: Mapping[FindingCode, str]
    step: timedelta = minutes(1)
    added: str = "0"
    read: str = "0"
    acked: str = "0"
    trimmed: str = "0"
    left: str = "0"
    deliveries: str = "1"
    age: timedelta = timedelta(0)
    consumers: str = "1"
    idle: str = "1"
    streams: str = "1"
    role: StreamRole = StreamRole.EVENTS
    server: str = "0"
    memory: str = "1"
    policy: str = "noeviction"
    late: str = "0"
    foreign: str = "0"

    @property
    def readings(self) -> int:
        """How many there are."""
        return max(map(len, self.found.values()))


def observations(series: Series) -> Iterator[Observation]:
    """What an observer with the default thresholds makes of the readings, one after the other."""
    observer = Observer(Thresholds())
    for taken in _snapshots(series):
        yield observer.observe(taken)


def letters(series: Series) -> dict[FindingCode, str]:
    """What is found in the readings, as ``Series.found`` says it."""
    rows: list[dict[FindingCode, Health]] = []
    for seen in observations(series):
        of_groups = [group.findings for view in seen.streams for group in view.groups]
        placed = (
            *seen.findings,
            *(one for view in seen.streams for one in view.findings),
            *sum(of_groups, ()),
        )
        rows.append({one.code: one.level for one in placed})
    codes = {code for row in rows for code in row}
    return {code: "".join(LETTERS[row.get(code, Health.OK)] for row in rows) for code in codes}


def numbers(series: str, length: int) -> Sequence[int]:
    """The values of a series, as many as that."""
    values: list[int] = []
    for piece in series.split():
        found = _PIECE.fullmatch(piece)
        assert found is not None, piece
        start, step, times = int(found[1]), int(found[2] or 0), int(found[3] or 0)
        values += [start + step * number for number in range(times + 1)]
    return (values + values[-1:] * length)[:length]


_NUMBERS: Final = (
    *("added", "read", "acked", "trimmed", "left", "deliveries", "consumers", "idle"),
    *("streams", "server", "memory", "late", "foreign"),
)


def _snapshots(series: Series) -> Iterator[Snapshot]:
    length = series.readings
    columns = {name: numbers(getattr(series, name), length) for name in _NUMBERS}
    for number in range(length):
        at = series.step * number
        here = {name: values[number] for name, values in columns.items()}
        state = _state(series, columns, number)
        ids = (str(here["server"]) * 40,)
        one = replace(
            node(used_memory=here["memory"], max_memory=100, policy=series.policy), replication_ids=ids
        )
        taken = snapshot(*(state,) * here["streams"], at=at, nodes=(one,))
        late, foreign = seconds(here["late"]), here["foreign"]
        queue = DelayedQueue("orders", 1, int(late > NO_TIME), NOW + at - late if late else None, 1, foreign)
        yield replace(taken, delayed=(queue,) if late or foreign else ())


def _state(series: Series, columns: Mapping[str, Sequence[int]], number: int) -> StreamState:
    """The stream in one reading, consistent with those before it."""
    added, trimmed = columns["added"], columns["trimmed"][number]

    def since(entry: int, reached: Sequence[int]) -> timedelta:
        """When a count first reached an entry, as time since the first reading; before it by ``age``."""
        at = next(place for place, count in enumerate(reached) if count >= entry)
        return series.step * at if at else -series.age

    def id_of(entry: int) -> EntryId:
        return EntryId(round((NOW + since(entry, added)).timestamp() * 1000), entry) if entry else ZERO_ID

    now = series.step * number
    read, acked, left = (columns[name][number] for name in ("read", "acked", "left"))
    following = max(read, trimmed) + 1
    first = 1 if left else acked + 1
    pending = max(0, read - acked) + left
    given = [place for place in range(1, number + 1) if columns["read"][place] > columns["read"][place - 1]]
    fed = now - (series.step * given[-1] if given else -series.age)
    idle = seconds(columns["idle"][number])
    oldest = None
    if pending:
        deliveries = columns["deliveries"]
        again = deliveries[: number + 1].index(deliveries[number])
        held = now - (series.step * again if again else since(first, columns["read"]))
        oldest = PendingEntry(id_of(first), "worker-1", held, deliveries[number])
    judged = ConsumerGroup(
        name="billing",
        consumers=columns["consumers"][number],
        pending=pending,
        last_delivered_id=id_of(read),
        entries_read=read,
        reported_lag=None,
        lag=exact(added[number] - following + 1),
        time_lag=TimeLag(now - since(following, added) if following <= added[number] else NO_TIME),
        oldest_pending=oldest,
        oldest_pending_age=now - since(first, added) if pending else None,
        members=(consumer(pending=pending, idle=idle, inactive=fed),) * columns["consumers"][number],
    )
    last = id_of(added[number])
    rest = added[number] - trimmed
    return replace(
        stream(
            length=rest,
            entries_added=added[number],
            role=series.role,
            groups=[judged],
            last_generated_id=last,
        ),
        first_id=id_of(trimmed + 1) if rest else None,
        last_id=last if rest else None,
    )


C = FindingCode

SERIES: Final = (
    Series(
        name="all goes well", found={C.STOPPED: "." * 20}, added="0+50x19", read="0+50x19", acked="0+50x19"
    ),
    Series(
        name="nobody reads and ever more waits, until somebody reads all of it",
        found={C.NO_CONSUMERS: "...wwccccccc."},
        step=seconds(30),
        added="0 2000+1000x11",
        consumers="0x11 1",
        read="0x11 13000",
        acked="0x11 13000",
    ),
    Series(
        name="its consumer asks and is given nothing while ever more waits, until it is given all of it",
        found={C.STOPPED: ".....cccccccc."},
        step=seconds(30),
        added="3+300x13",
        read="3x12 3903",
        acked="3x12 3903",
    ),
    Series(
        name="it may be at work on what it has, until it acknowledges nothing for too long",
        found={C.STOPPED: "wwwwcc"},
        step=seconds(30),
        added="9",
        read="3",
        age=minutes(3),
    ),
    Series(
        name="it is at work on what it has",
        found={C.STOPPED: "w.....", C.BEHIND: "....ww"},
        step=seconds(30),
        added="9",
        read="6",
        acked="0+1x5",
        age=minutes(3),
    ),
    Series(
        name="nothing is acknowledged; then ever more waits",
        found={C.STALLED: ".....wwwcccccccccccc"},
        added="3x7 2003+500x11",
        read="3",
    ),
    Series(
        name="one entry fails again and again, and blocks the group; then another waits",
        found={C.STALLED: ".....wwww........cc", C.POISON: ".........wwwwwwwwww"},
        added="1x16 2",
        read="1",
        deliveries="1+1x18",
    ),
    Series(
        name="one entry fails again and again while others are done, until it is done too",
        found={C.POISON: ".........www."},
        added="1+5x12",
        read="1+5x12",
        acked="0+5x11 61",
        left="1x11 0",
        deliveries="1+1x11",
    ),
    Series(
        name="one entry is forgotten while others are done",
        found={C.PENDING_OLD: "." * 15 + "www"},
        added="1+5x17",
        read="1+5x17",
        acked="0+5x17",
        left="1",
    ),
    Series(
        name="the only consumer dies with entries",
        found={C.STALLED: ".....wwwww.......", C.DEAD_CONSUMER: "..........wwwwwww"},
        added="3",
        read="3",
        idle="0+60x16",
    ),
    Series(
        name="the only consumer dies with entries, and more wait",
        found={C.STOPPED: "...cccccccccccccc", C.DEAD_CONSUMER: "..........wwwwwww"},
        added="3 5",
        read="3",
        idle="0+60x16",
    ),
    Series(
        name="entries that are pending are trimmed",
        found={C.DANGLING_PENDING: ".wwwwcc", C.STALLED: ".....ww"},
        added="3",
        read="3",
        trimmed="0 3",
    ),
    Series(
        name="more comes than is read",
        found={C.LAG_GROWING: "." * 30 + "w" * 10},
        step=seconds(10),
        added="0+100x39",
        read="0+50x39",
        acked="0+50x39",
    ),
    Series(
        name="one burst",
        found={C.LAG_GROWING: "." * 40},
        step=seconds(10),
        added="2000+100x14 5400+100x24",
        read="0+100x39",
        acked="0+100x39",
    ),
    Series(
        name="a backlog is read, slowly",
        found={C.BEHIND: "." * 5 + "w" * 25 + "cc"},
        added="100",
        read="0+1x31",
        acked="0+1x31",
    ),
    Series(
        name="the position is set back, and catches up",
        found={C.REWOUND: "..www.."},
        step=seconds(30),
        added="5",
        read="5x1 2+1x2 5",
        acked="5",
    ),
    Series(
        name="the position is set back to where trimming is, for long",
        found={
            C.REWOUND: ".." + "w" * 60 + ".",
            C.RETENTION_EDGE: "...." + "w" * 59,
            C.BEHIND: "." * 30 + "w" * 33,
        },
        step=seconds(10),
        added="1000+2x62",
        read="1000 1002 12+2x60",
        acked="1002",
        trimmed="0+2x62",
    ),
    Series(
        name="entries are trimmed before they are delivered, once",
        found={C.LOST: "." + "c" * 10 + ".."},
        added="10+1x12",
        read="5x1 8+1x10",
        acked="5x1 8+1x10",
        trimmed="0 7",
    ),
    Series(
        name="entries are trimmed before they are delivered, again and again",
        found={C.LOST: ".ccccccccc"},
        step=seconds(10),
        added="100+10x9",
        read="10",
        acked="10",
        trimmed="0 20+10x8",
    ),
    Series(
        name="entries had been trimmed before the first reading",
        found={C.LOST: "w" * 10 + "."},
        added="10+1x10",
        read="5 10+1x9",
        acked="5 10+1x9",
        trimmed="7",
    ),
    Series(
        name="as much is trimmed as is read, and nearly all is still to be read",
        found={C.RETENTION_EDGE: "..wwwwww"},
        step=seconds(10),
        added="100+1x7",
        read="0+1x7",
        acked="0+1x7",
        trimmed="0+1x7",
    ),
    Series(
        name="nearly all is still to be read, and nobody trims",
        found={C.RETENTION_EDGE: "." * 8},
        step=seconds(10),
        added="100+1x7",
        read="0+1x7",
        acked="0+1x7",
    ),
    Series(
        name="dead letters come, and then many",
        found={C.DEAD_LETTERS: ".wwc"},
        added="0 3 9 10",
        role=StreamRole.DEAD_LETTERS,
    ),
    Series(
        name="a server that evicts fills",
        found={C.EVICTION_RISK: "wwcc"},
        memory="1 69 70 99",
        policy="allkeys-lru",
    ),
    Series(name="a server that evicts nothing fills", found={C.OOM: "..cc"}, memory="1 89 90 104"),
    Series(name="the last stream vanishes", found={C.STREAMS_GONE: ".." + "w" * 10 + "."}, streams="1x1 0"),
    Series(
        name="another server answers, without the stream",
        found={C.STREAMS_GONE: "..cc."},
        streams="1x1 0x1 1",
        server="0x1 1",
    ),
    Series(
        name="messages are due and nothing moves them",
        found={C.DELAYED_OVERDUE: "...cc."},
        late="0 60 119 120 180 0",
    ),
    Series(name="another program's sorted set", found={C.DELAYED_FOREIGN: ".ww."}, foreign="0 2x1 0"),
)
"""Every rule finds something in one of these, and nothing else than is said is found in any."""
