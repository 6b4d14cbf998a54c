"""``python -m tests.chaos``: random histories on every server that this machine has, and a report of what they came to."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from tests.chaos.player import main as play_what_comes
from tests.chaos.players import Company, progress
from tests.chaos.report import report
from tests.chaos.results import CRASHES, KINDS, PROCESSES, TOPOLOGIES, WATCHERS, Job, Journal, Result
from tests.support.programs import find_programs

EXAMPLES = """
\b
Examples:
  python -m tests.chaos                                      20 + 80 + 7 + 2 runs on each version
  python -m tests.chaos --processes 200 --crashes 800        the whole; may be stopped, and goes on where it was
  python -m tests.chaos --servers redis-6.2,valkey-9.1       on these alone
  python -m tests.chaos --first 1000                         other seeds
  python -m tests.chaos --kind crashes --servers redis-7.0 --seed 17     one run, and its ledger
  python -m tests.chaos --report                             what is in the journal
"""


@click.command(epilog=EXAMPLES)
@click.option("--processes", default=20, show_default=True, help="Runs with real processes, on each version.")
@click.option("--crashes", default=80, show_default=True, help="Runs that crash at a step, on each version.")
@click.option(
    "--topologies", default=7, show_default=True, help="Runs of clusters and Sentinels, on each version."
)
@click.option(
    "--watchers",
    default=2,
    show_default=True,
    help="Runs of exporter, consoles and controllers, on each version.",
)
@click.option("--report", "only_report", is_flag=True, help="Play nothing; report what is in the journal.")
@click.option("--first", default=0, show_default=True, metavar="SEED", help="The first seed.")
@click.option(
    "--servers",
    default="",
    metavar="LABELS",
    help="Versions, such as redis-7.0,valkey-9.1; all unless given.",
)
@click.option("--seed", type=int, help="Play this one run of --kind, and print its ledger.")
@click.option(
    "--kind", type=click.Choice(KINDS), default=PROCESSES, show_default=True, help="Of which kind --seed is."
)
@click.option(
    "--journal",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path(".chaos/journal.jsonl"),
    show_default=True,
    help="Where finished runs are kept; they are not played again unless they failed.",
)
@click.option(
    "--at-once",
    type=int,
    default=len(os.sched_getaffinity(0)) + 1,
    show_default=True,
    help="Processes that play.",
)
@click.option("--player", is_flag=True, hidden=True)
def main(  # noqa: PLR0917 - click gives them by name
    processes: int,
    crashes: int,
    topologies: int,
    watchers: int,
    first: int,
    servers: str,
    seed: int | None,
    kind: str,
    journal: Path,
    at_once: int,
    *,
    only_report: bool,
    player: bool,
) -> None:
    """Play histories in which everything fails, audit each, and say what they came to."""
    if player:
        asyncio.run(play_what_comes())
        return
    labels = _labels(servers)
    if seed is not None:
        sys.exit(_play_one([Job(kind, label, seed) for label in labels], journal))
    counts = {PROCESSES: processes, CRASHES: crashes, TOPOLOGIES: topologies, WATCHERS: watchers}
    jobs = [
        Job(one, label, number)
        for one, count in counts.items()
        for number in range(first, first + (0 if only_report else count))
        for label in labels
    ]
    book = Journal(journal)
    asyncio.run(_play(book.left(jobs), book, at_once, journal.parent))
    results = [result for result in book.results.values() if result.job.label in labels]
    click.echo(report(results))
    sys.exit(any(result.problem for result in results))


def _labels(asked: str) -> Sequence[str]:
    known = [program.label for program in find_programs()]
    labels = [label.strip() for label in asked.split(",") if label.strip()] or known
    if strangers := [label for label in labels if label not in known]:
        raise click.UsageError(
            f"no server {', '.join(strangers)} on this machine; there are {', '.join(known)}"
        )
    return labels


async def _play(jobs: Sequence[Job], book: Journal, at_once: int, place: Path) -> None:
    done = 0

    def told(result: Result) -> None:
        nonlocal done
        done += 1
        progress(done, len(jobs), result)
        if result.problem:
            job = result.job
            text = f"{result.command}\n\n{result.problem}\n\n{result.story}\n"
            (place / f"{job.kind}-{job.label}-{job.seed}.txt").write_text(text)
            sys.stderr.write(f"{result.problem}\n{result.command}\n")
        book.add(result.without_story())

    company = Company(at_once, place / "players.log")
    for kind in KINDS:
        await company.play([job for job in jobs if job.kind == kind], told)


def _play_one(jobs: Sequence[Job], journal: Path) -> int:
    journal.parent.mkdir(parents=True, exist_ok=True)
    results: list[Result] = []
    asyncio.run(Company(1, journal.parent / "players.log").play(jobs, results.append))
    for result in results:
        click.echo(f"{result.job.label}, seed {result.job.seed}: {result.scene}\n{result.story}\n")
        click.echo(result.problem or "nothing was wrong")
    return int(any(result.problem for result in results))


if __name__ == "__main__":
    main()
