"""The guards as a page of Markdown."""

from collections.abc import Iterable, Mapping, Sequence

from tests.chaos.mutations.guard import Guard

HEAD = """\
# Guards

What the promises of streamops rest on, and the tests that fail where one of these guards is missing. This page is
written by `python -m tests.chaos.mutations --write`, and a test holds it against the list. Without any option that
command takes each guard out of a copy of the code, runs its tests with it and without it, and ends with 1 where a
guard is not missed.
"""


def page(rooms: Mapping[str, Sequence[Guard]]) -> str:
    """The page: a table for each of the things that guards are for."""
    return "\n".join([HEAD, *(part for title, guards in rooms.items() for part in _section(title, guards))])


def _section(title: str, guards: Iterable[Guard]) -> list[str]:
    rows = [f"| {guard.name} | {guard.promise} | {_tests(guard)} |" for guard in guards]
    return [f"## {title}\n", "| Guard | What it promises | Fails without it |", "|---|---|---|", *rows, ""]


def _tests(guard: Guard) -> str:
    return "<br>".join(f"`{test}`" for test in guard.tests)
