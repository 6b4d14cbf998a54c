"""What a command line imports."""

import json
import os
import subprocess
import sys

from tests.support.project import PROJECT

REPORT = (
    "import sys; from streamops.main.program import run; code = run(sys.argv[1:]); sys.stdout.flush();"
    "print(); import json; print(json.dumps([code, sorted(sys.modules)]))"
)


def imported(*args: str) -> tuple[int, set[str]]:
    """Run a command line in a process of its own; its exit code and the modules it had at its end."""
    environment = {**os.environ, "PYTHONPATH": str(PROJECT)}
    output = subprocess.run(
        [sys.executable, "-P", "-c", REPORT, *args],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
        timeout=60,
    ).stdout
    code, modules = json.loads(output.splitlines()[-1])
    return code, set(modules)


def top_level(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}
