"""What many runs came to, as tables."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median

from tests.chaos.haunting import PUBLISHING, STEPS, Way
from tests.chaos.results import CRASHES, PROCESSES, TOPOLOGIES, WATCHERS, Result, totals

WIDTH = 44

Count = Callable[[Sequence[Result]], object]

ROWS: Mapping[str, Count] = {
    "runs": len,
    "failed": lambda results: sum(bool(result.problem) for result in results),
    "hung": lambda results: sum(result.hung for result in results),
    "entries published": lambda results: sum(result.published for result in results),
    "handled": lambda results: sum(result.handled for result in results),
    "starts after the first": lambda results: sum(result.retried for result in results),
    "dead letters": lambda results: sum(result.buried for result in results),
    "done again with good reason": lambda results: sum(result.duplicates for result in results),
    "effects": lambda results: sum(result.effects for result in results),
    "numbers of a console that were checked": lambda results: totals(
        result.readings for result in results
    ).total(),
    "of these called exact or reported": lambda results: sum(
        result.readings.get("exact", 0) + result.readings.get("reported", 0) for result in results
    ),
    "wrong": lambda results: sum(result.wrong for result in results),
    "seconds, median": lambda results: _seconds(median(result.seconds for result in results)),
    "seconds, longest": lambda results: _seconds(max(result.seconds for result in results)),
}

ALWAYS = ("runs", "failed", "hung", "wrong")

TITLES = {
    PROCESSES: "Histories with real processes",
    CRASHES: "Runs that crash at a chosen step",
    TOPOLOGIES: "Clusters and Sentinels that fail over",
    WATCHERS: "Exporter, consoles and controllers that watch",
}


def report(results: Sequence[Result]) -> str:
    """All tables."""
    if not results:
        return "Nothing was played yet."
    parts = []
    for kind, title in TITLES.items():
        of_kind = [result for result in results if result.job.kind == kind]
        if of_kind:
            parts += [title, _by_label(of_kind)]
    crashes = [result for result in results if result.job.kind == CRASHES]
    others = [result for result in results if result.job.kind != CRASHES]
    if others:
        parts += ["Destroyed by faults", _counts(totals(result.destroyed for result in others))]
        parts += ["Scenes", _counts(totals({result.scene: 1} for result in others))]
        parts += [
            "Faults, and seconds until something new was done, or all of the truth shown",
            _recoveries(others),
        ]
    if crashes:
        parts += ["Steps at which it crashed", _steps(crashes), _recoveries(crashes)]
    parts.append(_failures(results))
    return "\n\n".join(parts)


def _by_label(results: Sequence[Result]) -> str:
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.job.label].append(result)
    labels = sorted(groups)
    lines = [_row("", [*labels, "all"])]
    for name, count in ROWS.items():
        # Not every kind has entries, letters or numbers of its own.
        if name in ALWAYS or count(results):
            lines.append(_row(name, [count(groups[label]) for label in labels] + [count(results)]))
    return "\n".join(lines)


def _recoveries(results: Iterable[Result]) -> str:
    times: dict[str, list[float]] = defaultdict(list)
    for result in results:
        for kind, seconds in result.recoveries:
            times[kind].append(seconds)
    counts = totals(result.faults for result in results if result.job.kind != CRASHES)
    lines = [_row("", ["times", "measured", "median", "longest"])]
    for kind in sorted(counts.keys() | times.keys()):
        found = times.get(kind, [])
        spent = [_seconds(median(found)), _seconds(max(found))] if found else ["-", "-"]
        lines.append(_row(kind, [counts.get(kind) or len(found), len(found), *spent]))
    return "\n".join(lines)


def _steps(results: Iterable[Result]) -> str:
    counts = totals(result.faults for result in results)
    wanted = (*STEPS, *PUBLISHING)
    others = sorted({step.partition(": ")[0] for step in counts} - {*wanted})
    ways = [*Way]
    lines = [_row("", [way.name.lower().replace("_", " ") for way in ways], 15)]
    lines += [_row(name, [counts[f"{name}: {way}"] for way in ways], 15) for name in (*wanted, *others)]
    return "\n".join(lines)


def _counts(counts: Mapping[str, int]) -> str:
    return "\n".join(_row(name, [count]) for name, count in sorted(counts.items())) or "nothing"


def _failures(results: Iterable[Result]) -> str:
    failed = [result for result in results if result.problem]
    if not failed:
        return "Nothing failed."
    lines = [f"{result.command}\n    {result.problem.splitlines()[0][:200]}" for result in failed]
    return "\n".join(("Failed:", *lines))


def _row(name: str, cells: Iterable[object], width: int = 11) -> str:
    return f"{name:{WIDTH}}" + "".join(f"{cell!s:>{width}}" for cell in cells)


def _seconds(value: float) -> str:
    return f"{value:.1f}"
