"""Delayed messages under names that need care."""

from datetime import timedelta

from msgspec import Struct

from streamops.model.acting import Confirmation, Outcome
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.publish.intent import PublishIntent
from streamops.wire.options import ConnectionOptions
from tests.support.operations.engine.examples import WORKSHOP

HOUR = timedelta(hours=1)
NAMED = {"orders": "later"}
PAIRS = ((b"n", b"1"),)


def publishing(ident: str, stream: str = "orders") -> PublishIntent:
    return PublishIntent(stream=stream, pairs=PAIRS, delay=HOUR, id=ident)


async def open_at(options: ConnectionOptions, **watch: object) -> Console:
    return await Console.open(options, Watch(**watch), actor=WORKSHOP)  # type: ignore[arg-type]  # a test's words


async def act(console: Console, intent: Struct) -> Outcome:
    prepared = await console.prepare(intent)
    return await console.apply(prepared, Confirmation(yes=True, typed=prepared.policy.word))
