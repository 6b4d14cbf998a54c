"""What is said of operations in several places is the same in all of them."""

from pathlib import Path
from typing import Any

import click
import pytest
from msgspec import Struct

from streamops.cli.acting import flow
from streamops.main.program import ROOT, run
from streamops.model.acts.names import OPERATION_NAMES
from streamops.operate.operations.registry import OPERATIONS
from streamops.tui.acting.backups import backup_for
from streamops.tui.subjects import Sort, Subject

FORCED = {"trim"}
"""Their backup goes with ``--unsafe`` alone, and is written where one is asked for."""

WITH_BACKUPS = sorted(
    name
    for name, operation in OPERATIONS.items()
    if name not in FORCED and "backup" in operation.intent.__struct_fields__
)
GIVEN = {
    "groups.destroy": ["orders", "billing"],
    "streams.rm-entry": ["orders", "--ids", "1-0"],
    "dlq.purge": ["orders"],
    "delayed.cancel": ["orders", "--all"],
}


def test_the_light_list_of_names_is_the_registry() -> None:
    assert sorted(OPERATIONS) == list(OPERATION_NAMES)


def test_each_operation_is_a_command() -> None:
    for name in OPERATION_NAMES:
        command: click.Command = ROOT
        for word in name.split("."):
            assert isinstance(command, click.Group)
            member = command.get_command(click.Context(command), word)
            assert member is not None, name
            command = member


@pytest.mark.parametrize("name", WITH_BACKUPS)
def test_a_backup_is_named_where_nobody_named_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the command line and in the console, by what is done and to what."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    asked: list[Any] = []

    def note(_session: object, intent: Struct, _choices: object) -> int:
        asked.append(intent)
        return 0

    monkeypatch.setattr(flow, "act", note)
    assert run([*name.split("."), *GIVEN[name], "--dry-run"]) == 0
    subject = Subject(sort=Sort.GROUP, stream="orders", group=asked[0].group if "groups" in name else None)
    named = [asked[0].backup, backup_for(name, OPERATIONS[name].intent, subject)["backup"]]
    start = f"{name.replace('.', '-')}-orders-{'billing-' if 'groups' in name else ''}2"
    for backup in named:
        assert Path(backup).parent == tmp_path / "streamops" / "backups"
        assert Path(backup).name.startswith(start)
    assert named[0] != named[1]
    assert not list(tmp_path.iterdir())
