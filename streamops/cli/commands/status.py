"""``streamops status``: one snapshot of everything."""

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from streamops.cli.globals import Output
from streamops.cli.options import command
from streamops.cli.params import Patterns
from streamops.cli.printer import Printer, Section
from streamops.cli.reading import StreamsReading, group_columns, group_order, note_reading
from streamops.cli.session import Session
from streamops.errors import ExitCode, SettingsError
from streamops.model.fields import option
from streamops.model.observation import Observation
from streamops.monitor.observe import fold_retries
from streamops.resources.findings import FINDING_COLUMNS, finding_rows
from streamops.resources.groups import GROUP_DETAIL_COLUMNS, GroupRow, group_rows
from streamops.resources.status import limited, status_document
from streamops.resources.streams import asked_for_alone

if TYPE_CHECKING:
    from streamops.operations.console import Console

LEAST_SAMPLE, MOST_SAMPLE = timedelta(seconds=0.5), timedelta(hours=1)
"""Readings closer together than this would show chance, not rates."""


@command(
    examples=[
        ("streamops status", "all streams"),
        ("streamops status 'orders:*' --sample 5s", "these streams, with rates over five seconds"),
        ("streamops status -o json | jq '.streams[].groups[].lag'", "the lags with their basis"),
        ("streamops status -o csv --fields stream,group,lag", "three columns for a spreadsheet"),
    ],
    exits={1: "a stream that PATTERN names does not exist"},
)
def status(
    session: Session,
    *,
    patterns: Patterns = (),
    sample: Annotated[timedelta | None, option("Read twice, SPAN apart, to compute rates.")] = None,
) -> ExitCode:
    """Show streams and their groups once: lag, pending entries and findings.

    A table has the worst groups first, and rates with --sample.

    PATTERN is a stream's name or a glob such as 'orders:*'; without any, the context's streams are shown,
    or all of them.
    """
    if sample is not None and not LEAST_SAMPLE <= sample <= MOST_SAMPLE:
        raise SettingsError("--sample: rates take from 0.5 s to an hour to show", "Write --sample 5s.")
    printer = session.printer(group_columns(session, rates=sample is not None), GROUP_DETAIL_COLUMNS)

    async def read(console: "Console") -> StreamsReading:
        await console.discover(queues=True)
        observation = await console.observe()
        if sample:
            await asyncio.sleep(sample.total_seconds())
            observation = await console.observe()
        return StreamsReading(observation, console.discovery.is_open)

    survey = session.run(read, patterns)
    observation = survey.observation
    if not patterns and session.given.output is Output.TABLE:
        streams = tuple(view for view in observation.streams if not asked_for_alone(view))
        observation = replace(observation, streams=streams)
    print_status(printer, observation, session.given.limit)
    return note_reading(session, survey.observation, patterns, scanned=survey.scanned)


def print_status(printer: Printer[GroupRow], observation: Observation, limit: int | None) -> None:
    """Print an observation, at most ``limit`` groups of it."""
    folded = replace(observation, streams=tuple(fold_retries(observation.streams)))
    rows = group_order(printer.output, group_rows(folded.streams))
    shown, left_out = limited(folded, rows, limit)
    printer.print_rows(
        rows[:limit],
        lambda: status_document(shown, left_out=left_out),
        sections=[Section("Findings", FINDING_COLUMNS, finding_rows(shown))],
    )
    printer.note_left_out(left_out)
