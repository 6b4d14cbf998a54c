"""What a client takes: which of the two formats of metrics, and whether compressed. Pure."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final, NamedTuple

from streamops.exporter.metrics.text import OPENMETRICS_TYPE, TEXT_TYPE


class Form(StrEnum):
    """The formats of metrics, by their content types."""

    TEXT = TEXT_TYPE
    OPENMETRICS = OPENMETRICS_TYPE


class Choice(NamedTuple):
    """One alternative of a header."""

    name: str
    params: dict[str, str]
    quality: float


_TAKEN: Final = {
    "text/plain": (Form.TEXT, ("", "0.0.4")),
    "text/*": (Form.TEXT, ("",)),
    "*/*": (Form.TEXT, ("",)),
    "application/openmetrics-text": (Form.OPENMETRICS, ("", "1.0.0")),
    "application/*": (Form.OPENMETRICS, ("",)),
}


def choose_form(accept: str) -> Form:
    """The format that an ``Accept`` header likes best; the text format where it says nothing of either.

    Where it likes two alike, the one that it names first.
    """
    best, form = 0.0, Form.TEXT
    for choice in _choices(accept):
        known = _TAKEN.get(choice.name)
        if known is not None and choice.params.get("version", "") in known[1] and choice.quality > best:
            best, form = choice.quality, known[0]
    return form


def takes_gzip(accept_encoding: str) -> bool:
    """Whether an ``Accept-Encoding`` header allows gzip."""
    qualities = {choice.name: choice.quality for choice in _choices(accept_encoding)}
    return qualities.get("gzip", qualities.get("*", 0.0)) > 0


def _choices(header: str) -> Iterator[Choice]:
    for part in header.split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        params = {
            key.strip().lower(): value.strip().strip('"')
            for key, _, value in (word.partition("=") for word in rest)
        }
        quality = params.pop("q", "1")
        try:
            yield Choice(name.lower(), params, float(quality))
        except ValueError:
            continue
