"""``streamops run module:app`` runs an application in worker processes. ``--only`` and ``--exclude`` choose handlers by
their names or streams; ``--until-idle`` ends, with 0, once nothing has been unread or in flight for a moment, as cron
wants it: what is delayed, retries among them, is left for the next run.
"""

import subprocess
import sys
from pathlib import Path

import pytest
import redis as redis_py

from streamops.service.processes import module_environment
from streamops.wire.options import ConnectionOptions

SHOP = """
from streamops.runtime import Streamops

app = Streamops()

@app.handler("orders", group="shipping", start="all")
async def ship(order_id: str) -> None:
    print("shipped", order_id, flush=True)

@app.handler({"emails:high": 3, "emails:low": 1}, group="mailer", start="all")
async def mail(address: str) -> None:
    print("mailed", address, flush=True)
"""


@pytest.fixture
def run(tmp_path: Path, redis: ConnectionOptions) -> "Run":
    """Runs the shop with options."""
    (tmp_path / "shop.py").write_text(SHOP)
    return Run(tmp_path, f"unix://{redis.socket_path}")


class Run:
    """The command, where the shop's module is."""

    def __init__(self, directory: Path, url: str) -> None:
        self._directory = directory
        self._environment = module_environment() | {"STREAMOPS_URL": url}

    def __call__(self, *options: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        words = [sys.executable, "-m", "streamops", "run", "shop:app", *options]
        return subprocess.run(
            words,
            cwd=self._directory,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def test_what_is_there_is_handled_and_the_command_ends(run: Run, client: redis_py.Redis) -> None:
    client.xadd("orders", {"order_id": "o-1"})
    client.xadd("emails:low", {"address": "ann@example.org"})
    done = run("--until-idle", "--workers", "2")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["mailed ann@example.org", "shipped o-1"]


def test_handlers_are_chosen_by_name_or_stream(run: Run, client: redis_py.Redis) -> None:
    client.xadd("orders", {"order_id": "o-1"})
    client.xadd("emails:high", {"address": "ann@example.org"})
    assert run("--until-idle", "--only", "emails:high").stdout == "mailed ann@example.org\n"
    assert run("--until-idle", "--exclude", "mail").stdout == "shipped o-1\n"


def test_a_name_that_no_handler_has_is_an_error(run: Run) -> None:
    done = run("--only", "order")
    assert done.returncode == 2
    assert "no handler or stream is called order" in done.stderr
    assert "There are ship (orders), mail (emails:high, emails:low)." in done.stderr
