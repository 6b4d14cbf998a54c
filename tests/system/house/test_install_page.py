"""The page on installing: its commands are understood, its units are sound, its extras are those there are."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from docs.reference import ROOT_DIRECTORY
from tests.support.grafana.commands import parse_streamops
from tests.support.tables import table

PAGE = (ROOT_DIRECTORY / "docs" / "install.md").read_text()
UNITS = re.findall(r"```ini\n# /etc/systemd/system/(\S+)\n(.*?)```", PAGE, re.DOTALL)
SYSTEMD = shutil.which("systemd-analyze")
STARTED = re.compile(r"^ExecStart=(\S+) (.*)$", re.MULTILINE)


def test_it_names_every_extra() -> None:
    project = tomllib.loads((ROOT_DIRECTORY / "pyproject.toml").read_text())["project"]
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) == project["optional-dependencies"].keys()


@table("text", [text for _, text in UNITS])
def test_the_command_of_a_unit_is_understood(text: str) -> None:
    ((_, words),) = STARTED.findall(text)
    parse_streamops(words.split())


@pytest.mark.skipif(SYSTEMD is None, reason="there is no systemd here")
@pytest.mark.parametrize(("name", "text"), UNITS, ids=[name for name, _ in UNITS])
def test_systemd_finds_nothing_wrong_with_a_unit(name: str, text: str, tmp_path: Path) -> None:
    """Where the program of the page is one that is there."""
    (tmp_path / name).write_text(STARTED.sub(r"ExecStart=/bin/true \2", text))
    checked = subprocess.run(
        [str(SYSTEMD), "verify", tmp_path / name],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_each_path_that_it_names_is_in_the_repository() -> None:
    for path in re.findall(r"(?:-k|kustomize|-r) (\S+)|`(grafana/\S+)`", PAGE):
        assert (ROOT_DIRECTORY / "".join(path)).exists()
