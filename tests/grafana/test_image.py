import fnmatch
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from dashboards.boards.every import board_files
from tests.grafana.commands import parse_streamops
from tests.grafana.stack import ROOT

SHIPPED = "streamops/dashboards/"
"""Where the wheel has the rules and the boards."""

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
IGNORED = [
    line
    for line in (ROOT / ".dockerignore").read_text().splitlines()
    if line.strip() and not line.startswith("#")
]


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def copied_sources() -> list[str]:
    """What is copied from the repository."""
    return [
        source
        for words in (rest.split() for rest in arguments("COPY") if not rest.startswith("--from="))
        for source in words[:-1]
    ]


def is_sent(path: str) -> bool:
    """Whether the builder gets to see a path, by .dockerignore: the last line that matches counts."""
    sent = True
    for line in IGNORED:
        if fnmatch.fnmatch(path, line.removeprefix("!")):
            sent = line.startswith("!")
    return sent


def test_base_images_are_pinned() -> None:
    bases = {words.split()[0] for words in arguments("FROM")}
    assert all(re.fullmatch(r"[\w./-]+:\d+\.\d+\.\d+-[\w-]+", base) for base in bases)
    assert len(bases) == 1


@pytest.mark.parametrize("source", copied_sources())
def test_what_is_copied_is_there_and_sent_to_the_builder(source: str) -> None:
    assert (ROOT / source).exists()
    assert is_sent(source)


@pytest.mark.parametrize("path", [".git", ".venv", "tests", "grafana"])
def test_the_rest_is_not_sent(path: str) -> None:
    assert not is_sent(path)


def test_it_runs_as_nobody_in_particular() -> None:
    (user,) = arguments("USER")
    assert user == "10001:10001"


def test_its_command_is_understood() -> None:
    (entry,), (words,) = arguments("ENTRYPOINT"), arguments("CMD")
    assert entry == '["streamops"]'
    assert parse_streamops(re.findall(r'"([^"]*)"', words)) == "streamops exporter"


def test_the_package_can_be_built_from_what_is_copied(tmp_path: Path) -> None:
    for source in copied_sources():
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, tmp_path / source, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / source, tmp_path)
    (install,) = [words for words in arguments("RUN") if words.endswith(" .")]
    options = [word for word in install.split() if word in {"--no-deps", "--no-build-isolation"}]
    built = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", *options, "--wheel-dir", "wheels", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    assert "streamops/main/program.py" in archive.namelist()
    shipped = {name.removeprefix(SHIPPED) for name in archive.namelist() if name.startswith(SHIPPED)}
    assert shipped == {"streamops.rules.yml", "RUNBOOKS.md"} | board_files().keys()
    for name in shipped:
        assert archive.read(SHIPPED + name) == (ROOT / "dashboards" / name).read_bytes()
