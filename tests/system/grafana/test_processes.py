"""The commands of the compose file, as they stand there, on a real server: workload, worker and exporter."""

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from streamops.service.processes import module_command, module_environment
from tests.support.grafana.stack import STACK, services
from tests.support.prometheus import RunningProgram, fetch
from tests.support.servers import RunningServer

PATIENCE = 30.0
SERVICES = services()
URL = SERVICES["worker"]["environment"]["STREAMOPS_URL"]


def words_of(name: str, url: str, port: int) -> list[str]:
    """A service's command, at this test's server and port."""
    words = [str(word).replace(URL, url) for word in SERVICES[name]["command"]]
    return [f"127.0.0.1:{port}" if word.startswith("0.0.0.0:") else word for word in words]


def running(name: str, url: str, place: Path) -> RunningProgram:
    """A service of streamops's that serves metrics."""
    environ = {"STREAMOPS_URL": url, "PYTHONPATH": f"{place}:{module_environment()['PYTHONPATH']}"}
    return RunningProgram(
        lambda _, port: module_command("streamops", *words_of(name, url, port)), "/-/healthy", environ
    )


def served(program: RunningProgram, wanted: Sequence[str]) -> str:
    """A page that has lines which begin like that."""
    deadline = time.monotonic() + PATIENCE
    while True:
        page = fetch(f"{program.url}/metrics").decode()
        missing = [start for start in wanted if f"\n{start}" not in page]
        if not missing:
            return page
        assert time.monotonic() < deadline, missing
        time.sleep(0.05)


def test_the_commands_run(server: RunningServer) -> None:
    _, *module = SERVICES["workload"]["entrypoint"]
    assert module == ["-m", "streamops.demo.workload"]
    url = server.url
    workload = [sys.executable, *module, *words_of("workload", url, 0)]
    probe = module_command("streamops", *SERVICES["workload"]["healthcheck"]["test"][2:])
    environ = module_environment() | {"STREAMOPS_URL": url}
    with subprocess.Popen(workload, env=environ, stdout=subprocess.PIPE, text=True) as playing:
        try:
            assert playing.stdout is not None
            assert playing.stdout.readline() == "ready\n"
            assert subprocess.run(probe, env=environ, check=False, timeout=PATIENCE).returncode == 0
            with running("worker", url, STACK / "worker") as worker:
                served(worker, ["streamops_handler_duration_seconds_count{", "streamops_retries_total{"])
                with running("exporter", url, STACK) as exporter:
                    page = served(exporter, ["streamops_group_lag_entries{", "streamops_workers{"])
        finally:
            playing.terminate()
    assert 'group="notices"' in page
    assert "\nstreamops_up 1\n" in page
