"""What scripts rely on of commands, held against golden files: exit codes, and JSON but for its sentences."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.support.cli.running import Cli, Place, Result

WRITING = bool(os.environ.get("STREAMOPS_WRITE_GOLDEN"))
SENTENCE_WORDS = 4
FINGERPRINT = (r'("fingerprint": ")[0-9a-f]{12}', r"\g<1>000000000000")
MASKS = (
    (r"\b1[78]\d{11}-\d+\b", "0000000000000-0"),
    (r"\b202\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)", "2026-01-01T00:00:00Z"),
    (r'(_seconds": )-?[\d.]+', r"\g<1>0.0"),
    (r"\b[0-9a-f]{12}\b", "000000000000"),
    (r"\d{8}T\d{6}Z-[0-9a-f]{6}", "20260101T000000Z-000000"),
    (r"\b[\w.-]+@[\w.-]+:\d+", "ann@desk:1"),
    (r'("pid": )\d+', r"\g<1>1"),
    (r"redis://127\.0\.0\.1:\d+/0", "redis://server"),
)
"""What changes from run to run on a real server."""


def told(
    cli: Cli, lines: Sequence[Sequence[str]], place: Place, masks: Sequence[tuple[str, str]] = ()
) -> str:
    """Exit codes and JSON of commands, with what differs from run to run masked by (pattern, mask) pairs."""
    text = place.hide("".join(_kept(words, cli(*words)) for words in lines))
    for pattern, mask in (*masks, FINGERPRINT):
        text = re.sub(pattern, mask, text, flags=re.MULTILINE)
    return text


def compare(name: str, text: str, directory: Path) -> None:
    """Hold a text against its golden file."""
    path = directory / f"{name}.txt"
    if WRITING:
        directory.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def _kept(words: Sequence[str], result: Result) -> str:
    assert all(one.isprintable() or one == "\n" for one in result.out + result.err)
    assert "Traceback" not in result.err
    documents = "".join(f"{json.dumps(one, indent=2)}\n" for one in _documents(result.out))
    return f"$ streamops {' '.join(words)}\n{documents}[exit {result.code}]\n\n"


def _documents(out: str) -> Iterator[Any]:
    """The JSON document, or one from each line; none where it is text for people."""
    if not out.startswith("{"):
        return
    try:
        yield _without_sentences(json.loads(out))
    except ValueError:
        yield from (_without_sentences(json.loads(line)) for line in out.splitlines())


def _without_sentences(value: Any) -> Any:  # noqa: ANN401 - JSON
    match value:
        case dict():
            return {name: _without_sentences(one) for name, one in value.items()}
        case list():
            return [_without_sentences(one) for one in value]
        case str() if len(value.split()) >= SENTENCE_WORDS and not value.startswith("streamops "):
            return "..."
        case _:
            return value
