"""What the bars of one line say. Pure: the clock is an argument."""

from datetime import timedelta
from functools import lru_cache
from math import ceil
from time import monotonic
from typing import Final

from streamops.errors import StreamopsError
from streamops.model.observation import FindingCode, Health, Observation
from streamops.model.streams import Mode
from streamops.model.wording import counted
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe, shorten
from streamops.resources.units import compact, count, duration, health_text, percent
from streamops.tui.lines.details import finding_mark
from streamops.tui.polling.app_state import AppState, Loss, ServerMismatch
from streamops.tui.source import ContextInfo
from streamops.tui.widgets.paint import BLANK_LINE, Line, line_width

CRUMB: Final = " ▸ "
GAP: Final = Cell("  ")
DOT: Final = Cell(" · ", Tone.DIM)
MINUTE: Final = timedelta(minutes=1)
NEWS_AFTER: Final = timedelta(seconds=5)
PRODUCTION: Final = "production"
WORDY: Final = 100
LONGEST_NAME: Final = 40
ID_HEAD: Final = 8


def header(app_state: AppState, width: int) -> tuple[Line, Line]:
    """With this on the left, how it is on the right; words leave if there is no room for them."""
    return (*_place(app_state.context), *_server(app_state)), (
        GAP,
        *_healths(app_state, wordy=width >= WORDY),
    )


def crumbs(context: ContextInfo, breadcrumbs: tuple[str, ...]) -> Line:
    """The way from the context to where one stands."""
    names = [safe(name) for name in (context.name, *breadcrumbs)]
    cells = [Cell(" ")]
    for name in names[:-1]:
        cells += [Cell(name), Cell(CRUMB, Tone.DIM)]
    return (*cells, Cell(names[-1], Tone.STRONG))


def banner(loss: Loss, app_state: AppState, now: float) -> Line:
    """How old what is shown is, when the server is tried again, and why; the reason may be cut, the rest not."""
    words = []
    if app_state.observation is not None:
        words.append(f"data {_age(app_state, now)} old")
    if loss.retry_at is not None:
        left = ceil(loss.retry_at - now)
        words.append(f"next try in {left}s" if left > 0 else "trying again")
    words.append(safe(loss.message))
    if loss.hint:
        words.append(safe(loss.hint))
    return (Cell(f" ✗ {' · '.join(words)}", Tone.STRONG),)


def mismatch_banner(mismatch: ServerMismatch) -> Line:
    """That another server answers, which one, and what may be done about it."""
    known, answers = (ids[0][:ID_HEAD] for ids in (mismatch.known, mismatch.answers))
    return (
        Cell(
            " ✗ server restarted or replaced: writes are locked · ^y accepts it"
            f" · replication ID {answers}…, was {known}…",
            Tone.STRONG,
        ),
    )


def status(app_state: AppState, now: float) -> Line:
    """How the data comes: pace, cost, what is missing from it."""
    cells = [Cell(" "), *_deeds(app_state), *_freshness(app_state, now)]
    observation = app_state.observation
    if observation is not None:
        cells += _shortfalls(observation)
    return tuple(cells)


def error_text(error: StreamopsError) -> str:
    """What is wrong, and what to do about it: which permission is missing, for one."""
    return ". ".join(part.rstrip(".") for part in (error.message, error.hint) if part)


def whole_seconds(seconds: float) -> str:
    """An age that is told each second: without fractions, which would only flicker."""
    whole = timedelta(seconds=int(max(seconds, 0.0)))
    return f"{whole.seconds}s" if whole < MINUTE else duration(whole)


def read_age(read_at: float | None) -> Line:
    """How long ago something was read, by this machine's monotonic clock; nothing if it was not."""
    if read_at is None:
        return BLANK_LINE
    age = monotonic() - read_at
    return (Cell(f"read {whole_seconds(age)} ago  " if age >= 1 else "just read  ", Tone.DIM),)


def position(cursor: int, shown: int) -> Line:
    """Where the cursor stands among the rows."""
    return (Cell(f" {count(min(cursor + 1, shown))}/{count(shown)} ", Tone.DIM),)


@lru_cache(maxsize=64)
def keys(pairs: tuple[tuple[str, str], ...], width: int) -> Line:
    """Keys and what they do, as many as fit; the last one, help, stays."""
    *others, last = pairs
    room = width - line_width(_key(last)) - 1
    cells = [Cell(" ")]
    for pair in others:
        room -= line_width(_key(pair))
        if room < 0:
            break
        cells += _key(pair)
    return (*cells, *_key(last))


def _place(context: ContextInfo) -> Line:
    environment = Cell(context.environment, Tone.WARN if context.environment == PRODUCTION else Tone.DIM)
    read_only = (GAP, Cell("read-only", Tone.OK)) if context.read_only else ()
    return (
        Cell(" streamops", Tone.OK),
        GAP,
        Cell(safe(context.name), Tone.STRONG),
        GAP,
        environment,
        *read_only,
    )


def _server(app_state: AppState) -> Line:
    words = []
    if app_state.observation is not None:
        server = app_state.observation.snapshot.server
        if server.flavour is not None:
            words.append(f"{server.flavour} {server.version}")
        if server.mode is not Mode.STANDALONE:
            words.append(server.mode)
    if app_state.context.address:
        words.append(safe(app_state.context.address))
    return (GAP, Cell(" · ".join(words), Tone.DIM)) if words else ()


def _key(pair: tuple[str, str]) -> Line:
    return (Cell(pair[0], Tone.OK), Cell(f" {pair[1]}  ", Tone.DIM))


def _healths(app_state: AppState, *, wordy: bool) -> Line:
    """The findings that no row of the groups has, then how many rows are in each health."""
    cells = [
        part
        for finding in (app_state.observation.findings if app_state.observation is not None else ())
        for part in (finding_mark(finding), GAP)
    ]
    if cells and app_state.tally:
        # Without a name the first count reads as that of what stands before it.
        cells.append(Cell("groups ", Tone.DIM))
    for health in (Health.CRITICAL, Health.WARN, Health.UNKNOWN, Health.OK):
        number = app_state.tally.get(health, 0)
        if number:
            shown = health_text(health)
            cells += [Cell(f"{shown.text if wordy else shown.text[0]} {compact(number)}", shown.tone), GAP]
    return tuple(cells)


def _deeds(app_state: AppState) -> Line:
    """What is being done to the server, wherever one looks."""
    cells: list[Cell] = []
    for deed in app_state.deeds:
        if deed.running:
            share = deed.progress.done / deed.progress.total if deed.progress and deed.progress.total else 0.0
            name = safe(shorten(deed.name, LONGEST_NAME))
            state = "stopping" if deed.stopping else percent(share)
            cells += [Cell(f"▸ {name} {state}", Tone.WARN), DOT]
    return tuple(cells)


def _freshness(app_state: AppState, now: float) -> Line:
    if app_state.frozen:
        return (Cell(f"‖ frozen, {_age(app_state, now)} old (p)", Tone.WARN),)
    if app_state.pace.interval is None:
        return (Cell(f"refresh off, {_age(app_state, now)} old (r)", Tone.WARN),)
    words = f"refresh {app_state.pace.interval.total_seconds():.3g} s"
    if app_state.pace.reason:
        words += f" ({app_state.pace.reason})"
    if app_state.observation is None:
        return (Cell(words, Tone.DIM), DOT, Cell("connecting", Tone.UNKNOWN))
    late = timedelta(seconds=now - app_state.arrived) > app_state.pace.interval + NEWS_AFTER
    if app_state.loss is None and not late:
        return (Cell(words, Tone.DIM),)
    return (Cell(words, Tone.DIM), GAP, Cell(f"· stale, {_age(app_state, now)} old", Tone.WARN))


def _shortfalls(observation: Observation) -> Line:
    snapshot = observation.snapshot
    cells: list[Cell] = []
    if not snapshot.discovery_complete:
        cells += [DOT, Cell("still scanning for streams", Tone.UNKNOWN)]
    if snapshot.discovered > len(snapshot.streams):
        cells += [
            DOT,
            Cell(f"{count(len(snapshot.streams))} of {count(snapshot.discovered)} streams", Tone.WARN),
        ]
    if snapshot.gaps:
        cells += [DOT, Cell(f"{count(len(snapshot.gaps))} not readable (?)", Tone.WARN)]
    return tuple(cells)


def _age(app_state: AppState, now: float) -> str:
    return whole_seconds(now - app_state.arrived)


def why_empty(app_state: AppState) -> str:
    """Why there are no streams, in words."""
    observation = app_state.observation
    if observation is None:
        return (
            "no connection yet"
            if app_state.loss is not None
            else f"connecting to {app_state.context.address or app_state.context.name}"
        )
    for finding in observation.findings:
        if finding.code is FindingCode.STREAMS_GONE:
            return safe(finding.text)
    snapshot = observation.snapshot
    where, keys = f"db {snapshot.server.database}", snapshot.server.keys
    patterns = ", ".join(safe(pattern) for pattern in snapshot.patterns)
    what = f"no streams match {patterns} in {where}" if patterns else f"no streams in {where}"
    if not snapshot.discovery_complete:
        of = "its keys" if keys is None else f"its {counted(keys, 'key', 'keys')}"
        return f"{what} so far; the scan of {of} is not finished"
    if snapshot.gaps:
        gap = snapshot.gaps[0]
        return f"{what} that can be read: {safe(gap.scope)}: {safe(gap.reason)}"
    scanned = "its keys were scanned" if keys is None else f"scanned {counted(keys, 'key', 'keys')}"
    return f"{what}; {scanned}"
