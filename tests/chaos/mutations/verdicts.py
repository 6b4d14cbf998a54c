"""A plugin for pytest: on one server version alone, and each test's outcome on a line of a file.

It is loaded by name in the processes that run tests on mutated code, and told by the environment what to do.
"""

import os
from pathlib import Path
from typing import Final

import msgspec
import pytest
from msgspec import Struct

from tests.programs import ServerProgram

SERVER: Final = "STREAMOPS_MUTATION_SERVER"
"""Environment variable: the label of the only server version to run on; the newest where it is empty."""
VERDICTS: Final = "STREAMOPS_MUTATION_VERDICTS"
"""Environment variable: the file."""


class Verdict(Struct, frozen=True):
    """How one test ended.

    Attributes:
        test: Its ID, without parameters.
        failed: Whether it failed.
    """

    test: str
    failed: bool


def read_verdicts(path: Path) -> list[Verdict]:
    """The outcomes of a run, as far as it came."""
    lines = path.read_bytes().splitlines() if path.exists() else []
    return [msgspec.json.decode(line, type=Verdict) for line in lines]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what would run on other versions."""
    wanted = (
        os.environ.get(SERVER, "")
        or max(
            (program for item in items for program in _programs(item)),
            default=ServerProgram("", (0, 0), Path()),
        ).label
    )
    others = [item for item in items if any(program.label != wanted for program in _programs(item))]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write down how a test ended; nothing where it did not even begin."""
    if report.skipped or report.when == "setup" or (report.when == "teardown" and report.passed):
        return
    verdict = Verdict(report.nodeid.partition("[")[0], report.failed)
    with Path(os.environ[VERDICTS]).open("ab") as file:
        file.write(msgspec.json.encode(verdict) + b"\n")


def _programs(item: pytest.Item) -> list[ServerProgram]:
    parameters = (
        item.callspec.params.values()
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else ()
    )
    return [value for value in parameters if isinstance(value, ServerProgram)]
