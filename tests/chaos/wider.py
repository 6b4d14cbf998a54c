"""Runs of deployments that fail over, and of exporter, consoles and controllers that watch a server fail."""

from collections import Counter
from random import Random
from zlib import crc32

from tests.chaos.results import Job, Result
from tests.chaos.topologies.scenarios import SCENARIOS
from tests.chaos.watchers.faults import GENTLE, ROUGH
from tests.chaos.watchers.scenario import play
from tests.support.programs import ServerProgram

FAULTS_EACH = 6
"""Faults that strike while somebody watches."""


async def fail_over(job: Job, program: ServerProgram) -> Result:
    """Play a history of a cluster or of Sentinels; the seed says in turn which.

    Raises:
        BrokenPromiseError: It ended otherwise than it has to.
    """
    name = [*SCENARIOS][job.seed % len(SCENARIOS)]
    outcome = await SCENARIOS[name](job.seed, program)
    return Result(
        job=job,
        scene=name,
        faults=dict(outcome.faults),
        published=sum(outcome.entries.values()),
        handled=sum(outcome.handled.values()),
        duplicates=sum(outcome.repeated.values()),
        destroyed=dict(outcome.destroyed),
        story=str(outcome),
    )


async def watch(job: Job, program: ServerProgram) -> Result:
    """Have a server watched while it fails; every other seed takes nothing away, so that counters must tell all.

    Raises:
        AssertionError: Something was shown that was not so, did not recover, or was done that must not be.
    """
    # Each version bears other faults.
    seed = crc32(job.label.encode()) + job.seed
    faults = Random(seed).sample(GENTLE if job.seed % 2 else (*GENTLE, *ROUGH), FAULTS_EACH)
    watched = await play(program, seed, faults)
    return Result(
        job=job,
        scene="watched",
        faults=dict(Counter(one.kind for one in watched.struck)),
        recoveries=[
            (one.kind, max(one.recovered.values(), default=0.0) - one.stalled) for one in watched.struck
        ],
        readings=dict(watched.judged),
        story=str(watched),
    )
