"""Take each guard out of a copy of the code, and see whether its tests notice."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from tests.chaos.mutations.guard import Guard
from tests.chaos.mutations.guards import GUARDS, ROOMS
from tests.chaos.mutations.running import Copy, Fate, try_guards, without
from tests.chaos.mutations.telling import page

CHECKOUT: Final = Path(__file__).parents[3]
PAGE: Final = CHECKOUT / "tests/chaos/GUARDS.md"


@click.command(
    epilog="Examples: python -m tests.chaos.mutations --only ack-owner, "
    "python -m tests.chaos.mutations --only ack-owner --among tests/operate"
)
@click.option("--only", multiple=True, metavar="NAME", help="This guard; again for more of them.")
@click.option("--list", "listed", is_flag=True, help="Print the names and what they promise, and end.")
@click.option("--write", is_flag=True, help="Write tests/chaos/GUARDS.md, and end.")
@click.option(
    "--among", multiple=True, metavar="PATH", help="Say which of these tests fail without the guards."
)
def main(only: Sequence[str], among: Sequence[str], *, listed: bool, write: bool) -> None:
    """Take each guard out of a copy of the code, and see whether its tests notice: exit code 1 where one does not."""
    guards = _chosen(only)
    if write:
        PAGE.write_text(page(ROOMS))
        return
    if listed:
        for guard in guards:
            click.echo(f"{guard.name:<32} {guard.promise}")
        return
    with tempfile.TemporaryDirectory(prefix="mutations-") as directory:
        copy = Copy(CHECKOUT, Path(directory))
        if among:
            _search(copy, guards, among)
        elif not _try(copy, guards):
            raise SystemExit(1)


def _chosen(names: Sequence[str]) -> Sequence[Guard]:
    known = {guard.name: guard for guard in GUARDS}
    if unknown := [name for name in names if name not in known]:
        raise click.UsageError(f"there is no guard {unknown[0]}; --list names them")
    return [known[name] for name in names] or GUARDS


def _try(copy: Copy, guards: Sequence[Guard]) -> bool:
    """Try guards, telling of each; whether all were missed."""
    survived = 0
    for tried in try_guards(copy, guards):
        survived += tried.fate is not Fate.KILLED
        click.echo(f"{tried.guard.name:<32} {tried.fate:<9} {tried.seconds:5.1f} s  {tried.why}")
    click.echo(f"{len(guards)} guards, {survived} that no test misses or whose tests do not pass")
    return survived == 0


def _search(copy: Copy, guards: Sequence[Guard], paths: Sequence[str]) -> None:
    """Tell which tests fail without guards: for whoever looks for the test of a new one."""
    for guard in guards:
        verdicts = without(copy, guard, paths, stop=False)
        fallen = sorted({one.test for one in verdicts if one.failed})
        click.echo(f"{guard.name}: {len(fallen)} fail of {len({one.test for one in verdicts})}")
        for test in fallen:
            click.echo(f"  {test}")


if __name__ == "__main__":
    main()
