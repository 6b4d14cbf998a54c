"""What is done at each load: commands as they are typed, places of the console as one goes to them."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from tests.benchmarks import load_data as data
from tests.support.servers import RunningServer

Words = tuple[str, ...]


class Load(Struct, frozen=True):
    """One kind of load.

    Attributes:
        name: What it is called on the command line.
        what: What there is, so many of them.
        count: How many.
        fill: Makes it.
        reads: Commands that change nothing, and plans.
        goals: Places of the console: what is typed after the colon, and the keys that are pressed there.
        writes: Commands that change something, in this order, once each.
    """

    name: str
    what: str
    count: int
    fill: Callable[[RunningServer, int], None]
    reads: Sequence[str]
    goals: Sequence[tuple[str, Words]]
    writes: Sequence[str] = ()


ALWAYS = (
    "status",
    "alerts ls",
    "check --lag 1000000000",
    "streams ls",
    "groups ls",
    "dlq ls",
    "delayed ls",
    "doctor",
)
EVERYWHERE: tuple[tuple[str, Words], ...] = (
    ("status", ()),
    ("streams", ()),
    ("pulse", ()),
    ("alerts", ()),
    ("dlq", ()),
    ("delayed", ()),
    ("workers", ()),
    ("pools", ()),
    ("audit", ()),
    ("jobs", ()),
)

LOADS = (
    Load(
        "delayed",
        "delayed messages",
        1_000_000,
        data.fill_delayed,
        (
            *ALWAYS,
            "delayed ls jobs",
            "delayed ls jobs --limit 1000",
            "delayed show jobs m500000",
            "delayed run-now jobs --all --dry-run",
            "delayed rm jobs --all --dry-run",
            "publish jobs n=1 --delay 1h",
        ),
        (*EVERYWHERE, ("delayed", ("enter",))),
        (
            "delayed rm jobs --ids m1 --confirm jobs",
            "delayed run-now jobs --ids m2 --yes",
            "delayed run-now jobs --before {half} --yes",
            "delayed rm jobs --all --confirm jobs",
        ),
    ),
    Load(
        "pending",
        "pending entries of one group",
        1_000_000,
        data.fill_pending,
        (
            *ALWAYS,
            "streams show orders",
            "groups show orders billing",
            "consumers ls orders billing",
            "pending ls orders billing",
            "pending ls orders billing --min-idle 100h",
            "pending ls orders billing --consumer worker-9 --limit 1000",
            "pending summary orders billing",
            "claim orders billing --to rescuer --min-idle 0 --dry-run",
            "claim orders billing --to rescuer --min-idle 100h --dry-run",
            "consumers rm orders billing worker-0 --to worker-1 --dry-run",
            "groups rewind orders billing --to-start --dry-run",
            "groups rm orders billing --dry-run",
            "trim orders --maxlen 1000 --dry-run",
            "trim orders --maxlen 1000 --unsafe --dry-run",
        ),
        (
            *EVERYWHERE,
            ("orders", ()),
            ("orders billing", ()),
            ("orders billing pending", ()),
            ("orders billing worker-9", ()),
            ("orders tail", ()),
        ),
        (
            "consumers rm orders billing worker-0 --to worker-1 --yes",
            "claim orders billing --to rescuer --min-idle 0 --yes",
            "groups rewind orders billing --back 1000 --yes",
            "groups rm orders billing --confirm orders/billing",
        ),
    ),
    Load(
        "letters",
        "dead letters",
        1_000_000,
        data.fill_letters,
        (
            *ALWAYS,
            "dlq ls {orders}:dlq",
            "dlq show {orders}:dlq",
            "replay {orders}:dlq --dry-run",
            """replay {orders}:dlq --where "fields.n == '500000'" --dry-run""",
            "dlq purge {orders}:dlq --dry-run",
            "streams show {orders}:dlq",
        ),
        (*EVERYWHERE, ("dlq", ("enter",)), ("{orders}:dlq", ())),
        (
            "replay {orders}:dlq --count 500000 --yes",
            "dlq purge {orders}:dlq --count 250000 --confirm {orders}:dlq",
            "trim {orders}:dlq --maxlen 1000 --unsafe --confirm {orders}:dlq",
        ),
    ),
    Load(
        "wide",
        "groups, two on each stream",
        10_000,
        data.fill_wide,
        (
            *ALWAYS,
            "status shop:77",
            "streams show shop:77",
            "groups show shop:77 billing",
            "trim shop:77 --maxlen 1 --dry-run",
        ),
        (*EVERYWHERE, ("shop:77", ()), ("shop:77 billing", ())),
    ),
    Load(
        "deep",
        "groups of one stream",
        10_000,
        data.fill_deep,
        (
            *ALWAYS,
            "streams show deep",
            "groups show deep g5000",
            "consumers ls deep g5000",
            "pending summary deep g5000",
            "claim deep g5000 --to rescuer --min-idle 0 --dry-run",
            "groups rewind deep g5000 --to-start --dry-run",
            "trim deep --maxlen 1 --dry-run",
            "trim deep --maxlen 50 --unsafe --dry-run",
        ),
        (*EVERYWHERE, ("deep", ()), ("deep g5000", ()), ("deep tail", ())),
        (
            "claim deep g5000 --to rescuer --min-idle 0 --yes",
            "ack deep g5000 --ids 201-0 --yes",
            "consumers rm deep g5000 worker --to rescuer --yes",
            "groups rewind deep g5000 --to-start --yes",
            "groups create deep fresh --at 200-0 --yes",
            "groups rm deep g5000 --confirm deep/g5000",
            "trim deep --minid 200-0 --yes",
            "trim deep --maxlen 50 --unsafe --confirm deep",
        ),
    ),
    Load(
        "long",
        "entries of one stream",
        50_000_000,
        data.fill_long,
        (
            *ALWAYS,
            "streams show long",
            "streams tail long -n 100 --limit 100",
            "streams search long --contains nothing",
            """streams search long --where "fields.n == '7'" --limit 1""",
            "groups show long half",
            "consumers ls long half",
            "pending ls long half",
            "pending summary long half",
            "groups rewind long all --to-start --max 1000000000 --dry-run",
            "groups rewind long none --to-end --max 1000000000 --dry-run",
            "groups rewind long half --to-time 2h --max 1000000000 --dry-run",
            "trim long --maxlen 1000 --dry-run",
            "trim long --maxlen 1000 --unsafe --max 1000000000 --dry-run",
            "trim long --before 12h --unsafe --max 1000000000 --dry-run",
            "claim long half --to rescuer --min-idle 0 --dry-run",
        ),
        (*EVERYWHERE, ("long", ()), ("long half", ()), ("long tail", ()), ("long half pending", ())),
        (
            "groups rm long none --confirm long/none",
            "trim long --before 10h --max 1000000000 --yes",
            "trim long --maxlen 1000000 --unsafe --exact --max 1000000000 --confirm long",
        ),
    ),
)
