"""Processes that stay do without what only takes memory."""

import subprocess
import sys

LEAN = """
import sys
from streamops.process.lean import without
with without("rich", "opentelemetry"):
    import structlog.dev
    with without("rich"):
        import streamops.operate.console
print(sorted({name.split(".")[0] for name in sys.modules} & {"rich", "pygments", "opentelemetry"}))
import rich.console
with without("rich"):
    print("rich.console" in sys.modules)
print("rich.console" in sys.modules)
"""


def test_others_are_loaded_without_it_and_whoever_wants_it_later_finds_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAN], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.split() == ["[]", "True", "True"]
