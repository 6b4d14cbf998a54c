"""``streamops run``: real processes, told by real signals."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from streamops.service.processes import module_environment
from tests.support.eventually import wait_until
from tests.support.prometheus import assert_clean
from tests.support.runtime.supervisor.run import APP, supervising
from tests.support.runtime.supervisor.running import add_job
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


def hold(directory: Path) -> Path:
    """Entries that wait are handled once this file is gone."""
    held = directory / "held"
    held.touch()
    return held


def test_workers_handle_drain_and_leave_nothing(server: RunningServer, tmp_path: Path) -> None:
    ids = [add_job(server) for _ in range(50)]
    with supervising(server, tmp_path, "--workers", "2") as running:
        wait_until(lambda: len(running.handled) == 50)
        wait_until(lambda: "workers ready" in running.log)
        held = hold(tmp_path)
        slow = add_job(server, "wait")
        wait_until(lambda: pending_count(server, "jobs", "g") == 1)
        running.tell(signal.SIGTERM)
        wait_until(lambda: "draining" in running.log)
        held.unlink()
        assert running.process.wait(20) == 0
    assert sorted(entry_id for entry_id, _ in running.handled) == sorted([*ids, slow])
    assert pending_count(server, "jobs", "g") == 0
    assert server.command("KEYS", "streamops:worker:*") == []
    assert server.command("XINFO", "CONSUMERS", "jobs", "g") == []


def test_a_killed_worker_is_replaced_and_its_entry_handled(server: RunningServer, tmp_path: Path) -> None:
    with supervising(server, tmp_path, "--workers", "2") as running:
        wait_until(lambda: "workers ready" in running.log)
        before = running.children()
        held = hold(tmp_path)
        slow = add_job(server, "wait")
        wait_until(lambda: pending_count(server, "jobs", "g") == 1)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        held.unlink()
        wait_until(lambda: slow in dict(running.handled))
        wait_until(lambda: len(running.children()) == 2)
        assert not running.children() & before
        assert running.log.count("killed by SIGKILL") == 2
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
    assert pending_count(server, "jobs", "g") == 0


def test_a_poison_entry_cannot_bring_them_down_for_good(server: RunningServer, tmp_path: Path) -> None:
    add_job(server, "die")
    ids = [add_job(server) for _ in range(20)]
    app = APP.replace("retry=0.05", "retry=0.05, max_attempts=2")
    with supervising(server, tmp_path, "--workers", "1", app=app) as running:
        wait_until(lambda: server.command("XLEN", "{jobs}:dlq") == 1, 40)
        wait_until(lambda: {entry_id for entry_id, _ in running.handled} == set(ids))
        # Two starts at most, and each took one worker along.
        assert running.log.count("killed by SIGKILL") <= 2
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
    assert pending_count(server, "jobs", "g") == 0


def test_a_changed_file_replaces_the_process_once_it_has_drained(
    server: RunningServer, tmp_path: Path
) -> None:
    with supervising(server, tmp_path, "--reload") as running:
        wait_until(lambda: "workers ready" in running.log)
        held, (old,) = hold(tmp_path), running.children()
        slow = add_job(server, "wait")
        wait_until(lambda: pending_count(server, "jobs", "g") == 1)
        (tmp_path / "shop.py").write_text(f"{APP}\nprint('the new code')\n")
        wait_until(lambda: "the new code" in running.log)
        held.unlink()
        wait_until(lambda: "reloaded" in running.log)
        assert running.handled == [(slow, old)]
        assert "files changed" in running.log
        assert "shop.py" in running.log
        (new,) = running.children()
        # What does not import replaces nothing.
        (tmp_path / "shop.py").write_text("this is no Python")
        wait_until(lambda: "reload failed" in running.log)
        assert "SyntaxError" in running.log
        wait_until(lambda: running.children() == {new})
        (tmp_path / "shop.py").write_text(f"{APP}\nprint('it is mended')\n")
        wait_until(lambda: running.log.count("reloaded") == 2)
        last = add_job(server)
        wait_until(lambda: last in dict(running.handled))
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
    assert "it is mended" in running.log


def test_a_reload_replaces_every_process_and_loses_nothing(server: RunningServer, tmp_path: Path) -> None:
    with supervising(server, tmp_path, "--workers", "2") as running:
        wait_until(lambda: "workers ready" in running.log)
        before, ids = running.children(), [add_job(server) for _ in range(20)]
        held = hold(tmp_path)
        running.tell(signal.SIGHUP)
        ids += [add_job(server, "wait") for _ in range(2)]
        wait_until(lambda: pending_count(server, "jobs", "g") >= 2)
        held.unlink()
        wait_until(lambda: "reloaded" in running.log)
        assert not running.children() & before
        wait_until(lambda: len(running.handled) >= len(ids))
        (tmp_path / "shop.py").write_text("raise RuntimeError('no')")
        after = running.children()
        running.tell(signal.SIGHUP)
        wait_until(lambda: "reload failed" in running.log)
        assert running.children() >= after
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
    assert sorted(entry_id for entry_id, _ in running.handled) == sorted(ids)


def test_processes_are_replaced_after_so_many_calls(server: RunningServer, tmp_path: Path) -> None:
    with supervising(server, tmp_path, "--max-jobs", "10") as running:
        wait_until(lambda: "workers ready" in running.log)
        before = running.children()
        ids = [add_job(server) for _ in range(30)]
        wait_until(lambda: len(running.handled) == 30)
        wait_until(lambda: "worker recycled" in running.log)
        wait_until(lambda: running.children() and not running.children() & before)
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0
    assert sorted(entry_id for entry_id, _ in running.handled) == sorted(ids)


def test_workers_drain_when_their_parent_is_killed(server: RunningServer, tmp_path: Path) -> None:
    with supervising(server, tmp_path) as running:
        wait_until(lambda: "workers ready" in running.log)
        (child,) = running.children()
        held = hold(tmp_path)
        slow = add_job(server, "wait")
        wait_until(lambda: pending_count(server, "jobs", "g") == 1)
        running.tell(signal.SIGKILL)
        held.unlink()
        wait_until(lambda: slow in dict(running.handled))
        wait_until(lambda: not Path(f"/proc/{child}").exists())
    wait_until(lambda: pending_count(server, "jobs", "g") == 0)


def test_a_second_signal_ends_everything_at_once(server: RunningServer, tmp_path: Path) -> None:
    hold(tmp_path)
    with supervising(server, tmp_path) as running:
        wait_until(lambda: "workers ready" in running.log)
        slow = add_job(server, "wait")
        wait_until(lambda: pending_count(server, "jobs", "g") == 1)
        running.tell(signal.SIGTERM)
        wait_until(lambda: "draining" in running.log)
        assert running.process.poll() is None
        running.tell(signal.SIGTERM)
        assert running.process.wait(10) == 130
    assert slow not in dict(running.handled)
    assert pending_count(server, "jobs", "g") == 1


def test_one_endpoint_has_the_metrics_of_all(server: RunningServer, tmp_path: Path) -> None:
    with supervising(server, tmp_path, "--workers", "2", "--metrics", "127.0.0.1:0") as running:
        wait_until(lambda: "http://" in running.log)
        url = running.log.split("http://")[1].split("/metrics")[0]
        wait_until(lambda: _get(f"http://{url}/-/ready") == (200, "ready\n"))
        assert _get(f"http://{url}/-/healthy") == (200, "healthy\n")
        for _ in range(20):
            add_job(server)
        count = 'streamops_handler_duration_seconds_count{group="g",handler="handle",stream="jobs"} 20.0'
        wait_until(lambda: count in _get(f"http://{url}/metrics")[1])
        assert_clean(_get(f"http://{url}/metrics")[1])
        for pid in running.children():
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: running.log.count("killed by SIGKILL") == 2)
        # What ended processes counted is not forgotten.
        assert count in _get(f"http://{url}/metrics")[1]


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("import nowhere_at_all", "does not import: No module named 'nowhere_at_all'"),
        ("from streamops.runtime import Streamops\napp = Streamops()", "has no handler"),
    ],
)
def test_what_cannot_run_says_so_in_one_line(
    server: RunningServer, tmp_path: Path, app: str, words: str
) -> None:
    with supervising(server, tmp_path, "--workers", "2", app=app) as running:
        assert running.process.wait(20) == 2
    assert words in running.log
    assert running.log.count("error:") == running.log.count("hint:") == 1
    assert "Traceback" not in running.log
    assert server.command("KEYS", "*") == []


def test_a_server_that_is_away_at_the_start_is_an_error(tmp_path: Path, server: RunningServer) -> None:
    (tmp_path / "shop.py").write_text(APP)
    words = [sys.executable, "-m", "streamops", "--url", "unix:///nowhere/at/all", "run", "shop:app"]
    done = subprocess.run(
        words, cwd=tmp_path, env=module_environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr
    server.command("SET", "jobs", "text")
    with supervising(server, tmp_path) as running:
        assert running.process.wait(20) == 1
    assert "jobs is not a stream" in running.log


@pytest.mark.parametrize("watched", [False, True], ids=["sighup", "reload"])
def test_workers_go_on_with_the_configuration_that_was_changed(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, watched: bool
) -> None:
    config = tmp_path / "config.toml"
    monkeypatch.setenv("STREAMOPS_CONFIG", str(config))
    good = f'default_context = "shop"\n[contexts.shop]\nurl = "{server.unix_url}'
    config.write_text(f'{good}?db=1"\n')
    ours = add_job(server)
    with supervising(server, tmp_path, *(["--reload"] if watched else ()), named=False) as running:

        def change(text: str) -> None:
            config.write_text(text)
            if not watched:
                running.tell(signal.SIGHUP)

        wait_until(lambda: "workers ready" in running.log)
        before = running.children()
        change("default_context = 5")
        wait_until(lambda: "reload failed" in running.log)
        assert running.children() == before
        assert running.handled == []
        change(f'{good}"\n')
        wait_until(lambda: [entry_id for entry_id, _ in running.handled] == [ours])
        wait_until(lambda: "reloaded" in running.log)
        running.tell(signal.SIGTERM)
        assert running.process.wait(20) == 0


def test_default_context_serves_an_application_that_names_no_server(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'default_context = "shop"\n[contexts.shop]\nurl = "{server.unix_url}"\n')
    monkeypatch.setenv("STREAMOPS_CONFIG", str(config))
    monkeypatch.delenv("STREAMOPS_URL", raising=False)
    job = add_job(server)
    with supervising(server, tmp_path, "--until-idle", named=False) as running:
        assert running.process.wait(20) == 0
        assert [entry_id for entry_id, _ in running.handled] == [job]
    own = APP.replace("Streamops()", "Streamops('unix:///nowhere/at/all')")
    with supervising(server, tmp_path, "--until-idle", app=own, named=False) as running:
        assert running.process.wait(20) == 3
    assert "/nowhere/at/all" in running.log


def _get(url: str) -> tuple[int, str]:
    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - our own loopback address
            return answer.status, answer.read().decode()
    except URLError:
        return 0, ""
