"""The demo workload as a process."""

import subprocess

from streamops.service.processes import module_command, module_environment


def start_workload(url: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        module_command("streamops.demo.workload", "--url", url, *args),
        env=module_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
