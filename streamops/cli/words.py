"""What commands say on stderr about a reading: why it is empty, what a limit left out, what could not be read."""

from collections.abc import Sequence

from streamops.cli.session import Session
from streamops.errors import ExitCode
from streamops.model.name_patterns import is_literal, matches
from streamops.model.observation import Observation
from streamops.model.pending import PendingProfile
from streamops.model.streams import ReadError
from streamops.model.wording import counted
from streamops.resources.units import percent

MOST_GAPS = 10


def note_reading(
    session: Session,
    observation: Observation,
    patterns: Sequence[str],
    *,
    scanned: bool,
    left_out: int,
) -> ExitCode:
    """Say what the data on stdout does not show; the exit code, which says whether all streams named are there."""
    note, snapshot = session.narrator.note, observation.snapshot
    for node in snapshot.server.nodes:
        if node.is_replica:
            note(f"{node.address} is a replica: it may lag behind its primary, and does not know who polls")
    if not observation.streams:
        note(_why_empty(session, patterns, scanned=scanned))
    note_left_out(session, left_out)
    beyond = snapshot.discovered - session.settings.watch.max_streams
    if beyond > 0:
        note(f"{counted(beyond, 'stream', 'streams')} beyond max_streams left out; name patterns or raise it")
    note_read_errors(session, snapshot.gaps)
    names = [view.stream.name for view in observation.streams]
    missing = any(is_literal(one) and not any(matches(one, name) for name in names) for one in patterns)
    return ExitCode.FAILED if missing else ExitCode.DONE


def note_left_out(session: Session, left_out: int) -> None:
    """Say how many rows a limit left out."""
    if left_out:
        session.narrator.note(
            f"{counted(left_out, 'more row', 'more rows')} left out by --limit {session.given.limit}"
        )


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
    effort = "; all keys were looked at" if scanned else ""
    return f"{what} in {options.label}{effort}"


def note_profile(session: Session, profile: PendingProfile) -> None:
    """Say what share of the pending entries a distribution describes, where it is not all of them."""
    if profile.coverage < 1:
        share = percent(profile.coverage)
        session.narrator.note(
            f"the distribution covers {share} of the pending entries, {profile.scanned:,} rows"
        )
