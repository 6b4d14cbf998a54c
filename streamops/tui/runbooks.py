"""The runbooks as they are installed: the wheel has them in the package, a checkout beside it."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from streamops.model.observation import FindingCode
from streamops.present.runbooks import FILE, HEADINGS, section


@cache
def runbook(code: FindingCode) -> str:
    """What to do about a finding, as Markdown; empty where the runbooks are not installed."""
    return section(_text(), HEADINGS[code])


@cache
def _text() -> str:
    for place in (files("streamops") / FILE, Path(__file__).parents[2] / FILE):
        try:
            return place.read_text("utf-8")
        except OSError:
            continue
    return ""
