"""The command lines that an outcome prints reach the same server again, and tell no password."""

import json
import shlex
from pathlib import Path

import pytest

from tests.support.cli.billing import CLAIM, SESAME, deliver_all_to_worker_1, owners
from tests.support.cli.running import Cli
from tests.support.servers import RunningServer


def test_undoing_goes_to_the_same_address(cli: Cli, server: RunningServer, secret_url: str) -> None:
    deliver_all_to_worker_1(server, 9)
    done = cli(*CLAIM, "-o", "json", "--url", secret_url)
    outcome = json.loads(done.out)
    program, option, url, *words = shlex.split(outcome["undo"])
    assert (program, option, words) == ("streamops", "--url", ["undo", outcome["audit_id"]])
    assert SESAME not in done.out + done.err
    assert owners(server) == ["worker-2"]
    assert cli(option, url, *words, "--yes").code == 0
    assert owners(server) == ["worker-1"]


def test_undoing_names_the_context(
    cli: Cli, server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver_all_to_worker_1(server, 9)
    config = tmp_path / "config.toml"
    config.write_text(f'[contexts.prod]\nurl = "{server.url}"\n')
    monkeypatch.setenv("STREAMOPS_CONFIG", str(config))
    told = cli(*CLAIM, "-c", "prod").out
    (line,) = (
        line.split(maxsplit=1)[1] for line in told.splitlines() if line.startswith("undo     streamops")
    )
    assert line.startswith("streamops -c prod undo ")
