"""What to do about a finding, in the words of the runbooks. Pure: the text of the file is an argument."""

import re
from typing import Final

from msgspec import Struct

from streamops.model.observation import FindingCode
from streamops.model.wording import quoted
from streamops.monitor.rules import RULE_OF

FILE: Final = "dashboards/RUNBOOKS.md"
_WORD: Final = re.compile(r"\b(STREAM|GROUP|DLQ)\b")
_CODE: Final = re.compile(r"`[^`]*`")
_FENCE: Final = "```"


class Passage(Struct, frozen=True):
    """A paragraph, or a line of shell.

    Attributes:
        text: What it says, on one line, without Markdown.
        command: Whether it is a line of shell.
    """

    text: str
    command: bool = False


def anchor(code: FindingCode) -> str:
    """Where the runbook stands: the file and the anchor of its section."""
    return f"{FILE}#{RULE_OF[code].alert.lower()}"


def section(text: str, heading: str) -> str:
    """A section of the file by its heading; empty where there is none."""
    _, _, rest = text.partition(f"\n## {heading}\n")
    return rest.partition("\n## ")[0].strip()


def passages(markdown: str, stream: str | None, group: str | None) -> list[Passage]:
    """A section as paragraphs and commands, with the stream and the group in their places.

    Args:
        markdown: The section.
        stream: The stream of the finding; none where it is about the server.
        group: Its group; none where it is about no group.
    """
    found: list[Passage] = []
    for number, block in enumerate(markdown.split(_FENCE)):
        if number % 2:
            lines = block.splitlines()[1:]
            found += [
                Passage(_named(line.removeprefix("$ "), stream, group), command=True)
                for line in lines
                if line.strip()
            ]
        else:
            paragraphs = (" ".join(paragraph.split()) for paragraph in block.split("\n\n"))
            found += [Passage(_plain(words, stream, group)) for words in paragraphs if words]
    return found


def _plain(words: str, stream: str | None, group: str | None) -> str:
    """Prose without Markdown's marks, with names only where code is quoted."""
    words = words.replace("**", "")
    return _CODE.sub(lambda code: f"`{_named(code.group()[1:-1], stream, group)}`", words)


def _named(line: str, stream: str | None, group: str | None) -> str:
    names = {"STREAM": stream, "DLQ": stream, "GROUP": group}

    def put(word: re.Match[str]) -> str:
        name = names[word.group()]
        return word.group() if name is None else quoted(name)

    return _WORD.sub(put, line)
