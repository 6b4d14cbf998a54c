"""Processes that stay do without what only takes memory."""

import subprocess
import sys

LEAN = """
import sys
from streamops.process.lean import without_rich
with without_rich():
    import structlog
    with without_rich():
        import structlog.dev
print(any(name.split(".")[0] in ("rich", "pygments") for name in sys.modules))
import rich.console
print("rich.console" in sys.modules)
with without_rich():
    print("rich.console" in sys.modules)
"""


def test_structlog_is_loaded_without_rich_which_others_still_find() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAN], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.split() == ["False", "True", "True"]
