"""Facts in words: a name and what is told under it, for people."""

from collections.abc import Callable, Iterable
from typing import TextIO

from streamops.cli.globals import Output
from streamops.cli.terminal import drawable, has_color, has_unicode, width_of
from streamops.resources.plans import Fact
from streamops.resources.table import Cell

GAP = "  "


def print_facts(facts: Iterable[Fact], file: TextIO, *, output: Output, color: Callable[[], bool]) -> None:
    """Write facts: aligned, or as lines that read well aloud where the output is plain."""
    if output is Output.PLAIN:
        lines = [f"{name}: {line.text}" for name, line in _pairs(facts, repeat=True)]
        file.writelines(drawable(f"{line}\n", file) for line in lines)
    elif file.isatty():
        _draw(_pairs(facts, repeat=False), file, color=color)
    else:
        pairs = _pairs(facts, repeat=False)
        width = max((len(name) for name, _ in pairs), default=0)
        lines = [f"{name:<{width}}{GAP}{line.text}" for name, line in pairs]
        file.writelines(drawable(f"{line.rstrip()}\n", file) for line in lines)


def _draw(pairs: list[tuple[str, Cell]], file: TextIO, *, color: Callable[[], bool]) -> None:
    # rich costs as much as the rest of the output together.
    from streamops.cli.output.grid import Painter  # noqa: PLC0415

    painter = Painter(
        file, width=width_of(file), color=color() and has_color(file), ascii_only=not has_unicode(file)
    )
    painter.draw_pairs(pairs)


def _pairs(facts: Iterable[Fact], *, repeat: bool) -> list[tuple[str, Cell]]:
    return [
        (fact.name if repeat or not at else "", line) for fact in facts for at, line in enumerate(fact.lines)
    ]
