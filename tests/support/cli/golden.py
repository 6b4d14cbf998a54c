"""Transcripts of commands, held against golden files."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tests.support.cli.running import Cli, Place, transcript

WRITING = bool(os.environ.get("STREAMOPS_WRITE_GOLDEN"))
FORMATS = ("table", "json")


def told(
    cli: Cli, lines: Sequence[Sequence[str]], place: Place, masks: Sequence[tuple[str, str]] = ()
) -> str:
    """What the commands print, with what differs from run to run masked by (pattern, mask) pairs."""
    text = "".join(transcript(cli, lines, place.hide))
    for pattern, mask in masks:
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text


def compare(name: str, text: str, directory: Path) -> None:
    """Hold a text against its golden file."""
    path = directory / f"{name}.txt"
    if WRITING:
        directory.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
