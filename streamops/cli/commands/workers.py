"""``streamops workers``: worker processes, by their heartbeats."""

from typing import Annotated

from streamops.cli.options import command
from streamops.cli.session import Session
from streamops.errors import NotFound
from streamops.model.fields import argument, option
from streamops.model.json_text import text_json
from streamops.resources.workers import (
    WORKER_COLUMNS,
    WORKER_DETAIL_COLUMNS,
    WorkerRow,
    unreadable_words,
    worker_json,
)


@command(
    examples=[
        ("streamops workers ls", "all workers: pool, state, slots in use"),
        ("streamops workers ls --pool billing -o jsonl", "one pool's, with the groups that they read for"),
    ],
)
def ls(
    session: Session,
    *,
    pool: Annotated[str | None, option("Only those of this pool.", metavar="POOL", completes="pools")] = None,
) -> None:
    """List worker processes with a heartbeat: state, slots in use, application.

    It scans all keys of the server. Workers of other libraries have no heartbeat; `streamops consumers ls`
    lists their consumers.
    """
    printer = session.printer(WORKER_COLUMNS, WORKER_DETAIL_COLUMNS)
    found = session.run(lambda console: console.workers.all())
    rows = [WorkerRow(worker, found.now) for worker in found.workers if pool in {None, worker.pool}]
    unreadable = [text_json(name) for name in found.unreadable]
    printer.print_list("workers.ls", "workers", rows, worker_json, after={"unreadable": unreadable})
    if found.unreadable:
        session.narrator.note(unreadable_words(found.unreadable))
    if not rows and not found.unreadable:
        whose = "" if pool is None else f" of pool {pool}"
        session.narrator.note(
            f"no streamops workers{whose} here; other clients do not report, `consumers ls` has them"
        )


@command(
    examples=[
        ("streamops workers show so-4f1c09ab12cd", "its pool, host, state and the groups it reads for")
    ],
    exits={1: "no such worker"},
)
def show(session: Session, *, worker: Annotated[str, argument("")]) -> None:
    """Show a worker process with a heartbeat, by its ID."""
    printer = session.printer((*WORKER_COLUMNS, *WORKER_DETAIL_COLUMNS))
    found = session.run(lambda console: console.workers.all())
    row = next((WorkerRow(one, found.now) for one in found.workers if one.id == worker), None)
    if row is None:
        raise NotFound(
            f"there is no worker {worker} with a heartbeat", "`streamops workers ls` lists the workers."
        )
    printer.print_record(row, lambda: {"schema": "streamops.workers.show/1", **worker_json(row)})
