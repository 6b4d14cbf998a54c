"""The readings that commands share: every stream that was asked for, or one by its exact name."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from streamops.cli.globals import Output
from streamops.cli.printer import Printer
from streamops.cli.session import Session
from streamops.errors import ExitCode, NotFound, Refused, ServerError, SettingsError
from streamops.model.entries import EntryId
from streamops.model.json_text import Json
from streamops.model.name_patterns import is_literal, matches
from streamops.model.observation import GroupView, Observation, StreamView
from streamops.model.pending import PendingProfile
from streamops.model.streams import NO_SUCH_STREAM, ReadError
from streamops.model.wording import counted
from streamops.resources.entries import ENTRY_COLUMNS, EntryRow, entry_json
from streamops.resources.groups import GROUP_COLUMNS, RATES, GroupRow, has_fault, worst_first
from streamops.resources.table import Column
from streamops.resources.units import percent

if TYPE_CHECKING:
    from streamops.operations.console import Console


class StreamsReading(NamedTuple):
    """What one look at all streams brought.

    Attributes:
        observation: What was read.
        scanned: Whether all keys were gone through to find the streams.
    """

    observation: Observation
    scanned: bool


def observe_streams(session: Session, patterns: Sequence[str], *, queues: bool = False) -> StreamsReading:
    """Find the streams, and delayed queues without one if ``queues``, and observe them; raises ``StreamopsError``."""

    async def read(console: "Console") -> StreamsReading:
        await console.discover(queues=queues)
        return StreamsReading(await console.observe(), console.discovery.is_open)

    return session.run(read, patterns)


def observe_stream(session: Session, stream: str) -> Observation:
    """Observe one stream.

    Raises:
        NotFound: There is none of that name.
        ServerError: It could not be read.
    """
    return session.run(lambda console: console.observe([stream]))


def only_stream(observation: Observation, name: str) -> StreamView:
    """The stream that was asked for alone.

    Raises:
        NotFound: There is none of that name.
        Refused: The user may not read it.
        ServerError: It could not be read.
    """
    for view in observation.streams:
        if view.stream.name == name:
            return view
    for gap in observation.snapshot.gaps:
        if gap.stream == name and gap.denied:
            raise Refused(f"stream {name}: {gap.reason}", "`streamops doctor` says what this user may do.")
        if gap.stream == name and gap.reason != NO_SUCH_STREAM:
            raise ServerError(f"stream {name}: {gap.reason}")
    raise NotFound(f"there is no stream {name}", "`streamops streams ls` lists the streams.")


def only_group(view: StreamView, name: str) -> GroupView:
    """The group of that name; raises ``NotFound`` where there is none."""
    for group in view.groups:
        if group.group.name == name:
            return group
    names = ", ".join(group.group.name for group in view.groups) or "none"
    raise NotFound(f"stream {view.stream.name} has no group {name}", f"Its groups: {names}.")


# A trend needs a history, which a single call does not have.
LISTED: Final = tuple(column for column in GROUP_COLUMNS if column.key != "trend")


def group_columns(session: Session, *, rates: bool = False) -> tuple[Column[GroupRow], ...]:
    """Columns of a list of groups: a table has those of rates only where these are known or asked for by name."""
    if rates or session.given.fields or session.given.output is not Output.TABLE:
        return LISTED
    return tuple(column for column in LISTED if column.key not in RATES)


def group_order(output: Output, rows: Sequence[GroupRow]) -> Sequence[GroupRow]:
    """Rows of a list of groups: a table has the worst first, other formats the streams' order."""
    return worst_first(rows, [has_fault(row) for row in rows]) if output is Output.TABLE else rows


MOST_GAPS = 10


def note_reading(
    session: Session,
    observation: Observation,
    patterns: Sequence[str],
    *,
    scanned: bool,
) -> ExitCode:
    """Say what the data on stdout does not show; the exit code, which says whether all streams named are there."""
    note, snapshot = session.narrator.note, observation.snapshot
    for node in snapshot.server.nodes:
        if node.is_replica:
            note(f"{node.address} is a replica: it may lag behind its primary, and does not know who polls")
    if not observation.streams:
        note(_why_empty(session, patterns, scanned=scanned))
    beyond = snapshot.discovered - session.settings.watch.max_streams
    if beyond > 0:
        note(f"{counted(beyond, 'stream', 'streams')} beyond max_streams left out; name patterns or raise it")
    note_read_errors(session, snapshot.gaps)
    names = [view.stream.name for view in observation.streams]
    missing = any(is_literal(one) and not any(matches(one, name) for name in names) for one in patterns)
    return ExitCode.FAILED if missing else ExitCode.DONE


def note_read_errors(session: Session, gaps: Sequence[ReadError]) -> None:
    """Say what could not be read, and why."""
    for gap in gaps[:MOST_GAPS]:
        session.narrator.note(f"not read: {gap.scope}: {gap.reason}")
    if len(gaps) > MOST_GAPS:
        session.narrator.note(f"not read: {len(gaps) - MOST_GAPS:,} further parts; -o json lists all")


def _why_empty(session: Session, patterns: Sequence[str], *, scanned: bool) -> str:
    options = session.settings.connection
    wanted = ", ".join(patterns or session.settings.watch.streams)
    what = f"no streams match {wanted}" if wanted else "there are no streams"
    effort = "; all keys were scanned" if scanned else ""
    return f"{what} in {options.label}{effort}"


def note_profile(session: Session, profile: PendingProfile) -> None:
    """Say what share of the pending entries a distribution describes, where it is not all of them."""
    if profile.coverage < 1:
        share = percent(profile.coverage)
        session.narrator.note(
            f"the distribution covers {share} of the pending entries, {profile.scanned:,} rows"
        )


SHOWN: Final = ("id", "time", "preview")


def entry_printer(session: Session, *, with_stream: bool) -> Printer[EntryRow]:
    """A printer of entries; raises ``SettingsError`` where ``--fields`` names none of their columns."""
    keys = ("stream", *SHOWN) if with_stream else SHOWN
    shown = [column for column in ENTRY_COLUMNS if column.key in keys]
    return session.printer(shown, [column for column in ENTRY_COLUMNS if column.key not in keys])


def entry_document(row: EntryRow) -> Json:
    """One entry as JSON."""
    return entry_json(row.stream, row.entry)


def id_at(moment: datetime | timedelta | None, now: datetime | None, seq: int = 0) -> EntryId | None:
    """The ID with that second part in the millisecond of an instant, or of how long ago; None for none.

    Raises:
        SettingsError: The server's clock, which says how long ago that is, may not be read.
    """
    if isinstance(moment, timedelta):
        if now is None:
            raise SettingsError(
                "the server's clock may not be read", "Give an instant: 2026-03-01T14:00:00Z."
            )
        moment = now - moment
    return None if moment is None else EntryId(max(int(moment.timestamp() * 1000), 0), seq)
