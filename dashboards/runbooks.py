"""What an alert says of what to do: the runbook's own words, and the address of the runbook where it has one."""

import re
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

FILE: Final = Path(__file__).resolve().parent / "RUNBOOKS.md"

_SECTION: Final = re.compile(r"^##+ (\w+)\n(.*?)(?=^##+ |\Z)", re.MULTILINE | re.DOTALL)
_DO: Final = re.compile(r"^\*\*Mitigation\.\*\* (.*?)(?=^\*\*)", re.MULTILINE | re.DOTALL)
_FENCE: Final = "```"


def anchor(name: str) -> str:
    """The anchor of a heading that is one word, as every renderer of Markdown makes it."""
    return name.lower()


def advice(heading: str, runbooks: str) -> dict[str, str]:
    """The annotations of an alert that lead on: ``fix``, and ``runbook_url`` where the runbooks have an address.

    Args:
        heading: The heading of the alert's runbook: its code, or its name.
        runbooks: The address of the runbooks; empty where they have none.

    Raises:
        ValueError: The address is not absolute.
    """
    fix = {"fix": fixes()[heading]}
    if not runbooks:
        return fix
    if urlsplit(runbooks).scheme not in ("http", "https") or not urlsplit(runbooks).netloc:
        raise ValueError(f"{runbooks!r} is no absolute address, such as https://HOST/RUNBOOKS.md")
    return {**fix, "runbook_url": f"{runbooks}#{anchor(heading)}"}


@cache
def fixes() -> dict[str, str]:
    """What each runbook says to do, by its heading: a paragraph or a command a line."""
    sections = _SECTION.findall(FILE.read_text(encoding="utf-8"))
    return {name: _lines(do[1]) for name, section in sections if (do := _DO.search(section))}


def _lines(markdown: str) -> str:
    lines: list[str] = []
    for number, block in enumerate(markdown.split(_FENCE)):
        if number % 2:
            lines += block.splitlines()[1:]
        else:
            lines += [" ".join(paragraph.split()) for paragraph in block.split("\n\n")]
    return "\n".join(line for line in lines if line)
