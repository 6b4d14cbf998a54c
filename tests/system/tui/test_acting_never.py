"""What acting never does, and what is offered and loaded only where it fits."""

import subprocess
import sys


def test_the_first_screen_imports_nothing_of_acting() -> None:
    code = (
        "import sys, streamops.tui.app;"
        "sys.exit(any(name in sys.modules for name in "
        "('redis', 'streamops.tui.acting', 'streamops.tui.screens.form', 'streamops.operations.engine')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
