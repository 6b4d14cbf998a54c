"""What a cron job runs."""

import os
import subprocess
import sys
from pathlib import Path

from tests.support.servers import PATIENCE, RunningServer

LONG = 180.0


def run_job(
    server: RunningServer, *words: str, config: str | Path = os.devnull
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end; nobody is asked anything."""
    patience = str(PATIENCE.total_seconds())
    line = [
        sys.executable,
        "-m",
        "streamops",
        "--url",
        server.unix_url,
        "--timeout",
        patience,
        "--no-input",
        *words,
    ]
    environment = os.environ | {"STREAMOPS_CONFIG": str(config)}
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=LONG)
