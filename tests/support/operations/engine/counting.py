"""An operation made for tests: it appends numbers to a list, so that what was done, twice or not, can be read."""

import asyncio
from typing import Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.acting import Actor, Environment, Impact, Job, OperationIntent, Plan
from streamops.monitor.context import ServerContext
from streamops.operations.engine import Engine
from streamops.operations.operation import Operation
from streamops.operations.planning import planned
from streamops.operations.running import Run
from streamops.wire.faults import fault
from streamops.wire.server import Server

NUMBERS = "numbers"
BATCH = 10


class CountIntent(OperationIntent, frozen=True, kw_only=True):
    """Append the numbers after ``after`` up to ``upto``."""

    operation: ClassVar = "count"
    impact: ClassVar = Impact.REDELIVERS

    upto: int
    after: int = 0


class NoEvidence(Struct, frozen=True):
    """Counting needs none."""


class Gate:
    """Lets an operation go on batch by batch.

    Attributes:
        reached: Set whenever the operation is about to write a batch.
        open: The operation waits for it before every batch.
    """

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def wait(self) -> None:
        self.reached.set()
        await self.open.wait()


def counting(gate: Gate | None = None, **changes: Any) -> Operation[CountIntent, NoEvidence]:
    """The operation; a job from the first number on."""

    async def survey(_place: ServerContext, _intent: CountIntent) -> NoEvidence:
        return NoEvidence()

    def plan(intent: CountIntent, _evidence: NoEvidence) -> Plan:
        count = intent.upto - intent.after
        return planned(intent, count, target=NUMBERS)

    async def apply(run: Run, intent: CountIntent, _evidence: NoEvidence, _plan: Plan) -> None:
        at = intent.after
        while at < intent.upto:
            size = await run.batch_size(BATCH)
            if gate is not None:
                await gate.wait()
            numbers = range(at + 1, at + size + 1)
            reply = await run.server.single(NUMBERS, "RPUSH", NUMBERS, *numbers)
            if isinstance(reply, Exception):
                raise fault(reply).error(NUMBERS)
            at += size
            await run.report(size, cursor=str(at))

    def resume(intent: CountIntent, job: Job) -> CountIntent:
        return replace(intent, after=int(job.cursor or 0))

    operation = Operation[CountIntent, NoEvidence](
        intent=CountIntent,
        survey=survey,
        plan=plan,
        apply=apply,
        writes=lambda _: (),
        key="",
        job_from=1,
        resume=resume,
    )
    return replace(operation, **changes)


def engine(server: Server, user: str = "ann", *, read_only: bool = False) -> Engine:
    """The engine of one operator; each is a process of its own as far as jobs can tell."""
    actor = Actor(user, "desk", 1, "test", Environment.DEVELOPMENT)
    return Engine(ServerContext(server), actor, read_only=read_only)
