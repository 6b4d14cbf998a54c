"""The words of notices: a title and a plain text of bounded length, safe wherever they are shown. Pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from msgspec import Struct

from streamops.analysis.wording import command, quoted, span
from streamops.exporter.notices.notifying import Batch, Notice, NoticeKind
from streamops.exporter.notices.sighting import COLLECTION_FAILING, REDIS_DOWN, Subject
from streamops.model.observation import FindingCode, Health
from streamops.present.text import safe, shorten

LISTED: Final = 10
"""Notices that are told in full; of further ones only how many there are of each kind."""

_WIDTH: Final = 500
_TITLE_WIDTH: Final = 200
_NAME_WIDTH: Final = 120
_HEADINGS: Final = {
    NoticeKind.FIRING: "",
    NoticeKind.WORSE: ", worse than it was",
    NoticeKind.REPEATED: ", still",
    NoticeKind.RESOLVED: "",
}


class Origin(Struct, frozen=True):
    """Which server notices are about.

    Attributes:
        label: The server in words, without secrets.
        selector: Options of a command line that choose it.
    """

    label: str
    selector: tuple[str, ...] = ()


class Message(Struct, frozen=True):
    """What is sent.

    Attributes:
        title: One line.
        body: Plain text, lines apart by LF.
        level: How bad the worst of it is; ``OK`` where all of it is resolved.
    """

    title: str
    body: str
    level: Health


def render_message(batch: Batch, origin: Origin, least: Health = Health.OK) -> Message | None:
    """The message of a batch.

    Args:
        batch: The batch.
        origin: Which server it is about.
        least: Leave out what never was as bad as that.

    Returns:
        The message; none where nothing of the batch is left.
    """
    notices = [notice for notice in batch.notices if notice.peak >= least]
    firing = [notice for notice in notices if notice.kind is not NoticeKind.RESOLVED]
    resolved = [notice for notice in notices if notice.kind is NoticeKind.RESOLVED]
    if not notices:
        return None
    lines = [f"Server: {safe(origin.label)}", ""]
    lines += _section(firing, origin) if firing else ()
    lines += _section(resolved, origin) if resolved else ()
    if batch.holding > len(firing):
        lines.append(f"{batch.holding:,} in all have been told and not resolved.")
    body = "\n".join(lines).rstrip() + "\n"
    return Message(_title(firing, resolved, origin), body, _worst(firing))


def render_test(origin: Origin) -> Message:
    """A message that only shows that messages arrive."""
    body = f"Server: {safe(origin.label)}\n\nThis is a test: nothing has been found. Notices arrive here.\n"
    return Message(f"[TEST] streamops {shorten(safe(origin.label), _TITLE_WIDTH)}", body, Health.OK)


_LOOK: Final[dict[str, str]] = {
    FindingCode.DEAD_LETTERS: "dlq show",
    FindingCode.DELAYED_OVERDUE: "delayed ls",
    FindingCode.DELAYED_FOREIGN: "delayed ls",
}


def look_command(subject: Subject, selector: Sequence[str]) -> str:
    """The command line that shows what a notice is about."""
    options = " ".join(map(quoted, selector))
    if subject.group:
        return command("groups info", subject.stream, subject.group, options=options)
    if subject.stream:
        verb = _LOOK.get(subject.code, "streams info")
        return command(verb, subject.stream, options=options)
    verb = "status" if subject.code in (REDIS_DOWN, COLLECTION_FAILING) else "doctor"
    return command(verb, options=options)


def _title(firing: Sequence[Notice], resolved: Sequence[Notice], origin: Origin) -> str:
    counts = [f"FIRING:{len(firing)}"] if firing else []
    counts += [f"RESOLVED:{len(resolved)}"] if resolved else []
    title = f"[{', '.join(counts)}] streamops {safe(origin.label)}"
    every = [*firing, *resolved]
    if len(every) == 1:
        title += f": {_summary(every[0].condition.subject)}"
    return shorten(title, _TITLE_WIDTH)


def _worst(firing: Sequence[Notice]) -> Health:
    return max((notice.condition.level for notice in firing), default=Health.OK)


def _summary(subject: Subject) -> str:
    where = "/".join(shorten(safe(name), _NAME_WIDTH) for name in (subject.stream, subject.group) if name)
    return f"{subject.code} {where}".rstrip()


def _section(notices: Sequence[Notice], origin: Origin) -> Iterator[str]:
    for notice in notices[:LISTED]:
        yield from _told(notice, origin)
        yield ""
    rest = [_rest_key(notice) for notice in notices[LISTED:]]
    if rest:
        counts = ", ".join(f"{len(list(same)):,} {key}" for key, same in groupby(sorted(rest)))
        look = command("status", options=" ".join(map(quoted, origin.selector)))
        yield f"... and {len(rest):,} more: {counts}. See {shorten(safe(look), _WIDTH)}"
        yield ""


def _rest_key(notice: Notice) -> str:
    over = " resolved" if notice.kind is NoticeKind.RESOLVED else ""
    return f"{notice.condition.subject.code}{over}"


def _told(notice: Notice, origin: Origin) -> Iterator[str]:
    condition = notice.condition
    where = _where(condition.subject)
    if notice.kind is NoticeKind.RESOLVED:
        yield f"RESOLVED {condition.subject.code}: {where}, after {span(notice.lasted)}"
        yield f"  It was: {_line(condition.text)}"
        return
    heading = _HEADINGS[notice.kind]
    yield f"{condition.level.word.upper()} {condition.subject.code}: {where}{heading}, for {span(notice.lasted)}"
    yield f"  {_line(condition.text)}"
    yield f"  {_line(condition.advice)}"
    yield f"  Look: {_line(look_command(condition.subject, origin.selector))}"


def _where(subject: Subject) -> str:
    if not subject.stream:
        return "the server"
    stream = f"stream {shorten(safe(subject.stream), _NAME_WIDTH)}"
    return f"{stream}, group {shorten(safe(subject.group), _NAME_WIDTH)}" if subject.group else stream


def _line(text: str) -> str:
    return shorten(safe(text), _WIDTH)
