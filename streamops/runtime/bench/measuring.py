"""A benchmark from its first key to its last."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Final

from streamops.model.bench import BenchPlan, Figure
from streamops.runtime.bench.consuming import measure_consuming
from streamops.runtime.bench.latencies import measure_latency
from streamops.runtime.bench.place import Place, bench_place
from streamops.runtime.bench.producing import measure_producing
from streamops.runtime.bench.telling import Tell
from streamops.wire.consuming.bare import refuse_cluster
from streamops.wire.options import ConnectionOptions

Measure = Callable[[Place, BenchPlan, Tell], Awaitable[list[Figure]]]
MEASURED: Final[Mapping[str, Measure]] = MappingProxyType(
    {"produce": measure_producing, "consume": measure_consuming, "latency": measure_latency}
)


async def measure(options: ConnectionOptions, plan: BenchPlan, tag: str, tell: Tell) -> list[Figure]:
    """Measure what the plan says, one after the other.

    Args:
        options: The server.
        plan: What is measured.
        tag: What the keys begin with: ``place.new_tag()``.
        tell: Told how far it is.

    Raises:
        StreamopsError: The server does not answer, or does not let us.
    """
    if plan.bare:
        refuse_cluster(options)
    figures: list[Figure] = []
    async with bench_place(options, tag, keep=plan.keep) as place:
        for name in plan.measures:
            figures += await MEASURED[name](place, plan, tell)
    return figures
