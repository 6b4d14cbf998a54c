"""What knowing targets imports."""

import json
import subprocess
import sys


def test_importing_targets_imports_no_client_of_theirs() -> None:
    code = "import streamops.targets.targets, sys, json; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    modules = {name.partition(".")[0] for name in json.loads(output.stdout)}
    assert not modules & {"aiohttp", "lightkube", "httpx2", "yaml"}
