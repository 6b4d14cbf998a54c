"""The instructions of the image, and its first stage built without docker: ``python -m tests.support.grafana.image DIR``."""

import shutil
import subprocess
import sys
from itertools import dropwhile, takewhile
from pathlib import Path

from tests.support.grafana.stack import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
INSTRUCTIONS = [
    line.split(maxsplit=1)
    for line in DOCKERFILE.replace("\\\n", " ").splitlines()
    if line.strip() and not line.startswith("#")
]
INSTALLED = "/opt/streamops"


def arguments(instruction: str) -> list[str]:
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


def copied_sources() -> list[str]:
    """What is copied from the repository."""
    return [
        source
        for words in (rest.split() for rest in arguments("COPY") if not rest.startswith("--from="))
        for source in words[:-1]
    ]


def build(place: Path) -> None:
    """Do what the first stage does, with this Python and with ``/opt/streamops`` in a directory."""
    source = place / "source"
    source.mkdir(parents=True)
    after_base = list(dropwhile(lambda step: step[0] == "FROM", INSTRUCTIONS))
    for name, rest in takewhile(lambda step: step[0] != "FROM", after_base):
        if name == "COPY":
            *copied, target = rest.split()
            for path in copied:
                copy = shutil.copytree if (ROOT / path).is_dir() else shutil.copy
                copy(ROOT / path, source / target)
        elif name == "RUN":
            subprocess.run(
                ["/bin/sh", "-ec", rest.replace(INSTALLED, f"{place}{INSTALLED}")], cwd=source, check=True
            )


if __name__ == "__main__":
    build(Path(sys.argv[1]).resolve())
