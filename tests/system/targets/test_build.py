"""From specs to targets, and what making one imports."""

import json
import subprocess
import sys


def test_importing_the_door_imports_no_client() -> None:
    code = "import streamops.targets.build, sys, json; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    modules = {name.partition(".")[0] for name in json.loads(output.stdout)}
    assert not modules & {"aiohttp", "lightkube", "httpx2", "yaml", "redis", "asyncio", "ssl"}
