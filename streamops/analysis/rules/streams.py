"""Rule 16: streams that are not there any more."""

from streamops.analysis.rules.subject import ServerSubject
from streamops.analysis.thresholds import Thresholds
from streamops.analysis.wording import counted, first_few, quoted, span
from streamops.model.observation import Finding, FindingCode, Health


def streams_gone(subject: ServerSubject, thresholds: Thresholds) -> Finding | None:
    """Rule 16: streams vanished with their server's data, or the last ones did; critical in the first case."""
    gone = subject.gone
    if gone is None or subject.now - gone.at >= thresholds.report_for:
        return None
    how = (
        "another server answers, or this one started without its data"
        if gone.other_server
        else "none is left"
    )
    return Finding(
        FindingCode.STREAMS_GONE,
        Health.CRITICAL if gone.other_server else Health.WARN,
        f"{counted(len(gone.names), 'stream', 'streams')} vanished {span(subject.now - gone.at)} ago, with all groups "
        f"({first_few([quoted(name) for name in gone.names])}): {how}",
        "If nobody meant it, stop the producers and bring the data back: look whether the server loaded its dump or "
        "append-only file (INFO persistence), and which replica still has it",
    )
