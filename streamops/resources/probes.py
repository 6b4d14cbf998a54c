"""The answer of a probe as one line, as a Nagios plugin's line, and as a document."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from streamops.model.json_text import Json, text_json
from streamops.model.wording import counted
from streamops.monitor.probes import Bounds, ProbeLimits, ProbeReading, ProbeResult, ProbeVerdict
from streamops.resources.text import safe
from streamops.resources.units import count, duration, terse

MOST_FAULTS: Final = 3
SECONDS: Final = frozenset({"time_lag", "pending_age"})
WORDS: Final = {
    ProbeVerdict.HELD: "OK",
    ProbeVerdict.WARNED: "OK WITH WARNINGS",
    ProbeVerdict.NOT_KNOWN: "NOT KNOWN",
    ProbeVerdict.BREACHED: "BREACHED",
}
NAGIOS_WORDS: Final = {
    ProbeVerdict.HELD: "OK",
    ProbeVerdict.WARNED: "WARNING",
    ProbeVerdict.NOT_KNOWN: "UNKNOWN",
    ProbeVerdict.BREACHED: "CRITICAL",
}


def probe_line(result: ProbeResult, limits: ProbeLimits) -> str:
    """``BREACHED: orders/billing lag 1,204 above 1,000; 2 more``."""
    return f"{WORDS[result.verdict]}: {_summary(result, limits)}"


def nagios_line(result: ProbeResult, limits: ProbeLimits) -> str:
    """The plugin's line: state, summary, and the worst of each measure as performance data."""
    line = f"STREAMOPS {NAGIOS_WORDS[result.verdict]} - {_summary(result, limits).replace('|', '/')}"
    data = " ".join(_performance(result, limits))
    return f"{line} | {data}" if data else line


def probe_document(result: ProbeResult) -> Json:
    """``streamops.check/1``: the verdict and everything that was judged."""
    return {
        "schema": "streamops.check/1",
        "verdict": result.verdict.name.lower(),
        "streams": result.streams,
        "groups": result.groups,
        "readings": [_reading_json(reading) for reading in result.readings],
    }


def _reading_json(reading: ProbeReading) -> Json:
    unit = "_seconds" if reading.measure in SECONDS else ""
    return {
        "measure": f"{reading.measure}{unit}",
        "subject": text_json(reading.subject),
        "lower": reading.bounds.lower,
        "upper": reading.bounds.upper,
        "verdict": reading.verdict.name.lower(),
        "text": safe(reading.text) or None,
    }


def _summary(result: ProbeResult, limits: ProbeLimits) -> str:
    faults = result.faults
    if not faults:
        groups, streams = (
            counted(result.groups, "group", "groups"),
            counted(result.streams, "stream", "streams"),
        )
        return f"{groups} of {streams}: {'within limits' if limits.given else 'no findings'}"
    told = [_sentence(fault, limits) for fault in faults[:MOST_FAULTS]]
    if len(faults) > MOST_FAULTS:
        told.append(f"{len(faults) - MOST_FAULTS:,} more")
    return "; ".join(told)


_CALLED: Final = {"time_lag": "lag age"}
"""Measures by how lists call them; their option and JSON keep the former name."""


def _sentence(reading: ProbeReading, limits: ProbeLimits) -> str:
    subject = safe(reading.subject)
    if reading.text:
        return f"{subject}: {safe(reading.text)}" if subject else safe(reading.text)
    limit = _limit(limits, reading.measure)
    name = _CALLED.get(reading.measure, reading.measure.replace("_", " "))
    number = _number(reading.measure, reading.bounds)
    if reading.verdict is ProbeVerdict.BREACHED:
        return f"{subject} {name} {number} above {_limit_text(reading.measure, limit)}"
    return f"{subject} {name} {number}, limit {_limit_text(reading.measure, limit)}"


def _number(measure: str, bounds: Bounds) -> str:
    lower, upper = bounds.lower, bounds.upper
    if lower is None and upper is None:
        return "unknown"
    if lower == upper:
        return _written(measure, lower)
    if upper is None:
        return f"at least {_written(measure, lower)}"
    return f"{_written(measure, lower or 0)} to {_written(measure, upper)}"


def _limit_text(measure: str, limit: float | None) -> str:
    if limit is not None and measure in SECONDS:
        return terse(timedelta(seconds=limit))
    return _written(measure, limit)


def _written(measure: str, number: float | None) -> str:
    if number is None:
        return "unknown"
    return duration(timedelta(seconds=number)) if measure in SECONDS else count(int(number))


def _limit(limits: ProbeLimits, measure: str) -> float | None:
    match measure:
        case "lag":
            return limits.lag
        case "dead_letters":
            return limits.dead_letters
        case "time_lag":
            return None if limits.time_lag is None else limits.time_lag.total_seconds()
        case _:
            return None if limits.pending_age is None else limits.pending_age.total_seconds()


def _performance(result: ProbeResult, limits: ProbeLimits) -> Iterator[str]:
    """``label=value;warning;critical;minimum``; ``U`` where the worst is not known."""
    for measure in ("lag", "time_lag", "pending_age", "dead_letters"):
        limit = _limit(limits, measure)
        if limit is None:
            continue
        readings = [reading for reading in result.readings if reading.measure == measure]
        yield f"{measure}={_worst(readings, 's' if measure in SECONDS else '')};;{limit:g};0"
    yield f"groups={result.groups};;;0"


def _worst(readings: list[ProbeReading], unit: str) -> str:
    uppers = [reading.bounds.upper for reading in readings]
    known = [upper for upper in uppers if upper is not None]
    return f"{max(known, default=0):.15g}{unit}" if len(known) == len(uppers) else "U"
