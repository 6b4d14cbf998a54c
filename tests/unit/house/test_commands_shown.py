"""The command line understands every command that the documents and its own texts show."""

import re
import shlex
from itertools import takewhile
from pathlib import Path
from typing import Final

import click
import pytest
from click.exceptions import Exit

from streamops.model.removed import RENAMED
from tests.support.grafana.commands import parse_streamops

ROOT: Final = Path(__file__).parents[3]
DOCUMENTS: Final = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "commands" not in path.parts),
]
BLOCK: Final = re.compile(r"^```(?:sh|console|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHOWN: Final = re.compile(r"^(?:\$ )?(streamops .*)$", re.MULTILINE)
INLINE: Final = re.compile(r"`(streamops [^`\n]+)`")
SOURCES: Final = [path for path in sorted((ROOT / "streamops").rglob("*.py")) if path.name != "removed.py"]
IN_TEXT: Final = re.compile(r"(?<!`)`(streamops [a-z][^`\n{}\"]*)`(?!`)")
GLOBAL: Final = {"--url", "-c", "--context"}


def words_of(line: str) -> list[str]:
    """The words of a command, without shell syntax and global options."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&")
    lexer.whitespace_split = True
    words = [*takewhile(lambda word: not set(word) <= set("|;&"), lexer)][1:]
    while words and words[0] in GLOBAL:
        del words[:2]
    return words


def complaints(lines: list[str], *excused: type[click.UsageError]) -> list[str]:
    wrong = []
    for line in lines:
        try:
            parse_streamops(words_of(line))
        except Exit:
            # --help, which is there.
            pass
        except click.UsageError as error:
            if not isinstance(error, excused):
                wrong.append(f"{line}: {error.format_message()}")
    return wrong


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_command_of_a_document_is_understood(document: Path) -> None:
    """But those whose words another command prints."""
    lines = [line for block in BLOCK.findall(document.read_text()) for line in SHOWN.findall(block)]
    assert complaints([line for line in lines if "$(" not in line]) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_each_command_that_a_sentence_names_is_there(document: Path) -> None:
    """With its options; what it needs besides may be left out of a sentence."""
    lines = [line for line in INLINE.findall(document.read_text()) if len(words_of(line)) > 1]
    assert complaints(lines, click.MissingParameter, click.BadOptionUsage) == []


def test_each_command_that_a_text_of_streamops_names_is_there() -> None:
    lines = [line for path in SOURCES for line in IN_TEXT.findall(path.read_text())]
    assert len(lines) > 50
    assert (
        complaints(
            [line for line in lines if len(words_of(line)) > 1], click.MissingParameter, click.BadOptionUsage
        )
        == []
    )


def test_no_text_tells_a_command_by_its_old_name() -> None:
    old = "|".join(name.replace(" ", r"\s+") for name in RENAMED if " " in name)
    named = re.compile(rf"(?:[`\"]|streamops )({old})(?![\w-])")
    runbooks = ROOT / "dashboards" / "RUNBOOKS.md"
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (*SOURCES, *DOCUMENTS, runbooks)
        for name in named.findall(path.read_text())
    ]
    assert found == []
