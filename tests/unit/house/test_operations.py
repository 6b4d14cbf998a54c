"""What is said of operations in several places is the same in all of them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from streamops.cli.acting import flow
from streamops.cli.acting.command import AT_ONCE
from streamops.cli.command import Acts, CommandGroup, Member
from streamops.main.program import ROOT, run
from streamops.operations import registry
from streamops.operations.registry import LISTED, OPERATIONS, command_words
from streamops.tui.acting.offers import backup_for
from streamops.tui.rows.selection import Selection, SelectionKind

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
    "pools.rm": ["orders"],
}


FOLDER = Path(registry.__file__).parent
FILES = {"__init__.py", "intent.py", "plan.py", "survey.py", "run.py"}
LIGHT = "import sys, {}; print(*sorted({{'redis', 'asyncio', 'streamops.wire'}} & set(sys.modules)))"


def test_each_folder_is_an_operation_of_the_registry_with_files_of_fixed_names() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert folders == {one.folder for one in LISTED.values()}
    for folder in folders:
        files = {path.name for path in (FOLDER / folder).iterdir() if path.is_file()}
        assert {"intent.py", "plan.py", "run.py"} <= files <= FILES, folder
        assert (FOLDER / folder / "__init__.py").stat().st_size == 0, folder


def test_each_row_of_the_registry_is_the_operation_of_that_name() -> None:
    for name, operation in OPERATIONS.items():
        assert operation.name == name
        assert LISTED[name][:2] == (operation.intent.__module__.split(".")[-2], operation.summary), name


def test_intents_and_plans_load_nothing_that_runs_them() -> None:
    modules = ", ".join(
        f"streamops.operations.{one}.{part}"
        for one in {one.folder for one in LISTED.values()}
        for part in ("intent", "plan")
    )
    told = subprocess.run(
        [sys.executable, "-c", LIGHT.format(modules)], capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == ""


def test_each_operation_is_the_command_of_its_words_whose_help_says_if_it_asks() -> None:
    for name in LISTED:
        member: Member = ROOT
        for word in command_words(name).split():
            assert isinstance(member, CommandGroup)
            member = member.members[word]
        assert isinstance(member, Acts)
        assert member.operation == name
        help_text = member.load().help or ""
        assert help_text.endswith(AT_ONCE) is not OPERATIONS[name].intent.asks, name


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
    assert run([*command_words(name).split(), *GIVEN[name], "--dry-run"]) == 0
    subject = Selection(
        sort=SelectionKind.GROUP, stream="orders", group=asked[0].group if "groups" in name else None
    )
    named = [asked[0].backup, backup_for(name, OPERATIONS[name].intent, subject)["backup"]]
    start = f"{name.replace('.', '-')}-orders-{'billing-' if 'groups' in name else ''}2"
    for backup in named:
        assert Path(backup).parent == tmp_path / "streamops" / "backups"
        assert Path(backup).name.startswith(start)
    assert named[0] != named[1]
    assert not list(tmp_path.iterdir())
