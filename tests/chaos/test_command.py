"""``python -m tests.chaos`` plays, keeps what it played, and does not play it again."""

from pathlib import Path

from click.testing import CliRunner

from tests.chaos.__main__ import main
from tests.support.programs import find_programs


def test_what_was_played_is_kept_and_not_played_again(tmp_path: Path) -> None:
    label = find_programs()[-1].label
    arguments = ["--processes", "0", "--crashes", "2", "--topologies", "0", "--watchers", "0"]
    arguments += ["--servers", label, "--at-once", "1"]
    arguments += ["--journal", str(tmp_path / "there" / "journal")]
    first = CliRunner().invoke(main, arguments)
    assert first.exit_code == 0, first.output
    assert f"1/2 crashes {label}" in first.stderr
    assert first.stdout.endswith("Nothing failed.\n")
    again = CliRunner().invoke(main, arguments)
    assert again.exit_code == 0
    assert again.stderr == ""
    assert again.stdout == first.stdout


def test_a_server_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["--servers", "redis-1.0", "--journal", str(tmp_path / "journal")])
    assert refused.exit_code == 2
    assert "no server redis-1.0 on this machine" in refused.stderr
