"""Every expression of every board has an answer in a real Prometheus, which scrapes the real exporter and a real worker
while there is traffic and trouble. An empty answer is a failure, without exceptions: where emptiness is the healthy
state, the trouble is made.
"""

import math
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from dashboards.rules import build_rules
from streamops.service.processes import module_command, module_environment
from tests.support.dashboards.cast import (
    APP,
    BLIND,
    CONFIGURATION,
    DELAYED,
    GROUP,
    LEFT_OUT,
    LETTERS,
    NOWHERE,
    POOL,
    STREAM,
    Cast,
    playing,
)
from tests.support.dashboards.shown import Ask, asks_of, put_in, read_boards, values_of, written
from tests.support.eventually import wait_until
from tests.support.prometheus import RunningProgram, RunningPrometheus
from tests.support.servers import RunningServer, StartServer

PATIENCE: Final = 75.0
LOST: Final = "streamops_group_lost_entries_total"
REWINDS: Final = "streamops_group_rewinds_total"


class Stage:
    """A server, the exporter and the workers that look after it, and the Prometheus that scrapes both."""

    def __init__(self, server: RunningServer, directory: Path) -> None:
        self._server = server
        self._directory = directory
        (directory / "shop.py").write_text(APP)
        (directory / "streamops.toml").write_text(CONFIGURATION.replace("URL", server.unix_url))
        (directory / "password").write_text(BLIND)
        (directory / "password").chmod(0o600)
        (directory / "rules.yml").write_text(re.sub(r" for: \S+", " for: 1s", build_rules()))
        paths = module_environment()["PYTHONPATH"]
        self._environ = {
            "STREAMOPS_CONFIG": str(directory / "streamops.toml"),
            "PYTHONPATH": f"{directory}:{paths}",
        }

    @contextmanager
    def running(self) -> Iterator[RunningPrometheus]:
        """All of them at work."""
        with ExitStack() as stack:
            workers = stack.enter_context(self._program("/-/ready", self._workers))
            # The exporter looks for queues but now and then: its first look is to find one.
            wait_until(lambda: self._server.client.exists(DELAYED))
            stack.enter_context(self._controller())
            exporter = stack.enter_context(self._program("/-/healthy", self._exporter))
            yield stack.enter_context(RunningPrometheus(self._configuration(exporter.port, workers.port)))

    def _program(self, ready: str, words: Any) -> RunningProgram:  # noqa: ANN401 - what RunningProgram takes
        return RunningProgram(words, ready, self._environ)

    def _exporter(self, _: Path, port: int) -> list[str]:
        listen = ("exporter", "--listen", f"127.0.0.1:{port}", "--exclude", LEFT_OUT)
        return module_command("streamops", "--context", "here", *listen)

    def _workers(self, _: Path, port: int) -> list[str]:
        run = ("run", "shop:app", "--pool", POOL, "--workers", "auto", "--beat", "1s")
        return module_command("streamops", "--context", "here", *run, "--metrics", f"127.0.0.1:{port}")

    @contextmanager
    def _controller(self) -> Iterator[None]:
        scale = (
            "autoscale",
            "run",
            POOL,
            "--stream",
            STREAM,
            "--group",
            GROUP,
            "--every",
            "1s",
            "--maximum",
            "3",
        )
        process = subprocess.Popen(
            module_command("streamops", "--context", "here", *scale),
            env=os.environ | self._environ,
            stderr=subprocess.PIPE,
        )
        try:
            yield
        finally:
            process.terminate()
            _, told = process.communicate(timeout=20)
        assert process.returncode == 0, told.decode()

    def _configuration(self, exporter: int, workers: int) -> dict[str, Any]:
        def job(name: str, port: int, **more: Any) -> dict[str, Any]:
            return {"job_name": name, "static_configs": [{"targets": [f"127.0.0.1:{port}"]}], **more}

        def probe(target: str) -> dict[str, Any]:
            return {"metrics_path": "/probe", "params": {"target": [target]}}

        return {
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(self._directory / "rules.yml")],
            "scrape_configs": [
                job("streamops", exporter),
                # A server that is not there: its errors are counted.
                job("streamops-probe", exporter, **probe(NOWHERE)),
                job("streamops-blind", exporter, **probe(BLIND)),
                job("streamops-workers", workers),
            ],
        }


def every_ask() -> list[tuple[Ask, str]]:
    """What the boards ask, the variables put in: one stream is chosen where one must be, else everything."""
    asked = []
    for board in read_boards():
        one = written(STREAM, many=False) if board["uid"] == "streamops-stream" else ".*"
        values = values_of(board, stream=one)
        asked += [(ask, put_in(ask.expr, values)) for ask in asks_of(board)]
    return asked


def is_answer(rows: list[dict[str, Any]]) -> bool:
    """Whether there is a number in it."""
    return any(math.isfinite(float(row["value"][1])) for row in rows)


def wait_for(prometheus: RunningPrometheus, expression: str) -> None:
    """Wait until an expression has an answer."""
    wait_until(lambda: is_answer(prometheus.query(expression)))


def unanswered(prometheus: RunningPrometheus, asked: list[tuple[Ask, str]]) -> list[tuple[Ask, str]]:
    """Those that have no answer now."""
    return [(ask, expr) for ask, expr in asked if not is_answer(prometheus.query(expr))]


def make_trouble(cast: Cast, prometheus: RunningPrometheus) -> None:
    """What can be seen only once it was seen that it was not so: a loss, and a position that moves back."""
    of_group = f'{{stream="{STREAM}", group="%s"}}'
    lost, rewound = f"{LOST}{of_group % 'loser'}", f"{REWINDS}{of_group % 'rewound'}"
    for counter in (lost, rewound):
        wait_for(prometheus, counter)
    cast.lose()
    for counter in (lost, rewound):
        wait_for(prometheus, f"{counter} > 0")


@pytest.mark.timeout(180)
def test_every_expression_has_an_answer(start_server: StartServer, tmp_path: Path) -> None:
    server = start_server("--maxmemory", "512mb")
    stage = Stage(server, tmp_path)
    asked = every_ask()
    with playing(server) as cast, stage.running() as prometheus:
        make_trouble(cast, prometheus)
        check_controller(prometheus)
        deadline = time.monotonic() + PATIENCE
        while (asked := unanswered(prometheus, asked)) and time.monotonic() < deadline:
            time.sleep(1)
        empty = "\n".join(f"{ask.name}: {expr}" for ask, expr in asked)
        assert not empty, empty
        check_variables(prometheus)
        check_names(prometheus)


def check_controller(prometheus: RunningPrometheus) -> None:
    """The real controller of the real workers tells what it wants, on what grounds, and that it decides."""
    of_pool = f'{{pool="{POOL}"%s}}'
    for expression in (
        f"streamops_autoscaler_info{of_pool % ''}",
        f"streamops_autoscaler_current_replicas{of_pool % ''} >= 1",
        f"streamops_autoscaler_desired_replicas{of_pool % ''} <= 3",
        f"streamops_autoscaler_max_replicas{of_pool % ''} == 3",
        f"streamops_autoscaler_arrivals_per_second{of_pool % ''} > 0",
        f"streamops_autoscaler_worker_entries_per_second{of_pool % ''} > 0",
        f"sum(rate(streamops_autoscaler_decisions_total{of_pool % ''}[30s])) > 0",
        f"changes(streamops_autoscaler_last_evaluation_timestamp_seconds{of_pool % ''}[30s]) > 0",
    ):
        wait_for(prometheus, expression)


def check_variables(prometheus: RunningPrometheus) -> None:
    """Every variable has values to choose from."""
    for board in read_boards():
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                inner = variable["query"]["query"].removeprefix("label_values(").removesuffix(")")
                selector, _, label = inner.rpartition(", ")
                match = put_in(selector, values_of(board, stream=STREAM))
                found = prometheus.get(f"/api/v1/label/{label}/values", **{"match[]": match})["data"]
                assert found, (board["uid"], variable["name"])


def check_names(prometheus: RunningPrometheus) -> None:
    """A stream whose name looks like a pattern is found by that name, where one is chosen and where many may be."""
    wanted = {"streamops-stream": "Length", "streamops-overview": "Added and acknowledged"}
    boards = {board["uid"]: board for board in read_boards()}
    for uid, panel in wanted.items():
        variables = {one["name"]: one["multi"] for one in boards[uid]["templating"]["list"]}
        values = values_of(boards[uid], stream=written(LETTERS, many=variables["stream"]))
        first = next(ask for ask in asks_of(boards[uid]) if ask.panel == panel)
        # One scrape that came too late leaves everything without an answer until the next.
        wait_for(prometheus, put_in(first.expr, values))
