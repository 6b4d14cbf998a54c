"""Spans of publishing and handling, linked by what entries carry, on every server."""

import subprocess
import sys


def test_nothing_is_imported_unless_asked_for() -> None:
    """redis-py imports OpenTelemetry by itself where it is installed; we only do for those who trace."""
    code = (
        "import sys, streamops.runtime.supervisor.child; sys.exit('streamops.runtime.tracing' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
