"""The ledger of a run, told in the order of time."""

from collections.abc import Iterable, Mapping

from tests.chaos.ledger import Fault, Line, Word


def story(lines: Iterable[Line], faults: Iterable[Fault], published: Mapping[str, object]) -> str:
    """Every line of the book, between what was done to processes; then what was published."""
    events = [(line.time, _words(line)) for line in lines]
    events += [
        (fault.start, f"  {fault.kind} {_whom(fault)} for {fault.end - fault.start:.3f} s")
        for fault in faults
    ]
    events.sort()
    first = events[0][0] if events else 0.0
    told = [f"{at - first:8.3f} {text}" for at, text in events]
    return "\n".join((*told, *(f"published {ident} {what}" for ident, what in published.items())))


def _words(line: Line) -> str:
    if line.word is Word.GAP:
        return f"gap in {line.pid}"
    return f"{line.word} {line.origin} as {line.entry} ({line.key}), attempt {line.attempt}, in {line.pid}"


def _whom(fault: Fault) -> str:
    return {0: "all", -1: "nobody"}.get(fault.pid, str(fault.pid))
