"""Commands as targets: real scripts, good ones and bad ones."""

import asyncio
import os
import select
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from streamops.errors import TargetChanged, TargetError
from streamops.model.pools import PoolSize
from streamops.model.secret import Secret
from streamops.targets.command import CommandTarget
from streamops.targets.specs import CommandSpec

THREE = PoolSize(ordered=3)
PLANTED = "hunter2-of-the-north"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "count").write_text("3\n")
    return tmp_path


def target_of(place: Path, **changes: Any) -> CommandTarget:
    stated: dict[str, Any] = {
        "get": ("cat", str(place / "count")),
        "set": ("sh", "-c", f'echo "$2" >{place}/count', "sh", "{current}", "{desired}"),
        "timeout": timedelta(seconds=20),
        **changes,
    }
    return CommandTarget("billing", CommandSpec(**stated))


def printing(text: str) -> tuple[str, ...]:
    return ("printf", "%s", text)


async def resize(target: CommandTarget, workers: int, expected: PoolSize = THREE) -> None:
    await target.resize(workers, expected, reason="12 s wait; limit $30", key="k-1")


async def failing(target: CommandTarget, workers: int | None = None) -> TargetError:
    with pytest.raises(TargetError) as told:
        await (target.read() if workers is None else resize(target, workers))
    error = told.value
    assert "\n" not in error.message + error.hint
    assert error.hint
    assert PLANTED not in error.message + error.hint
    return error


async def test_what_is_set_is_what_is_told(place: Path) -> None:
    target = target_of(place)
    assert (target.kind, target.label) == ("command", "command sh")
    await resize(target, 7, await target.read())
    assert await target.read() == PoolSize(ordered=7)
    await target.close()


@pytest.mark.parametrize(
    ("printed", "size"),
    [
        ("0", PoolSize(ordered=0)),
        ("  12\r\n", PoolSize(ordered=12)),
        ('{"ordered": 4, "ready": 3}', PoolSize(ordered=4, ready=3)),
        ('{"ordered": 4, "region": "eu"}', PoolSize(ordered=4)),
    ],
)
async def test_numbers_and_json(printed: str, size: PoolSize, place: Path) -> None:
    assert await target_of(place, get=printing(printed)).read() == size


@pytest.mark.parametrize(
    "printed",
    [
        "",
        "three",
        "-1",
        "1.5",
        "3 workers",
        "3\n4",
        "true",
        "null",
        '"3"',
        "[3]",
        '{"ready": 3}',
        '{"ordered": -1}',
        '{"ordered": true}',
        '{"ordered": 3, "ready": "2"}',
        "1000001",
        "9" * 400,
        "[" * 100_000,
        PLANTED,
    ],
    ids=lambda text: text[:20],
)
async def test_a_command_that_prints_no_number_of_workers_is_an_error(printed: str, place: Path) -> None:
    (place / "count").write_text(printed)
    error = await failing(target_of(place))
    assert error.message.startswith("command sh: get printed ")


async def test_output_is_bounded(place: Path) -> None:
    endless = (sys.executable, "-c", "import sys; sys.stdout.write('3' * 10_000_000)")
    assert "more than a number" in (await failing(target_of(place, get=endless))).message


async def test_arguments_are_filled_in_and_no_shell_reads_them(place: Path) -> None:
    show = "import sys; open(sys.argv[1], 'w').write('|'.join(sys.argv[2:]))"
    words = ("{pool}", "{current}->{desired}", "{reason}", "{key}", "{.spec.replicas}", "{other}", "$HOME")
    target = target_of(place, set=(sys.executable, "-c", show, str(place / "seen"), *words))
    await resize(target, 5)
    expected = "billing|3->5|12 s wait; limit $30|k-1|{.spec.replicas}|{other}|$HOME"
    assert (place / "seen").read_text() == expected


async def test_a_reason_cannot_fill_in_anything(place: Path) -> None:
    target = target_of(place, set=("sh", "-c", f'printf "%s" "$1" >{place}/seen', "sh", "{reason} {desired}"))
    await target.resize(5, THREE, reason="{key}\n\0", key="k-1")
    assert (place / "seen").read_text() == "{key}\\n\\x00 5"


async def test_variables_are_passed_and_never_shown(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROM_OUTSIDE", "3")
    script = 'test "$TOKEN" = ' + PLANTED + ' && echo "$FROM_OUTSIDE"'
    target = target_of(place, get=("sh", "-c", script), env={"TOKEN": Secret(PLANTED)})
    assert await target.read() == THREE
    target = target_of(
        place, get=("sh", "-c", 'echo "no $TOKEN" >&2; exit 1'), env={"TOKEN": Secret(PLANTED)}
    )
    assert (await failing(target)).message == "command sh: get ended with status 1: no ***"


async def test_a_command_has_nothing_to_read(place: Path) -> None:
    assert "status 1" in (await failing(target_of(place, get=("sh", "-c", "read answer")))).message


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 3", "set ended with status 3"),
        ("echo first >&2; echo last >&2; echo >&2; exit 4", "set ended with status 4: last"),
        ("printf 'a\\033[31mb\\377' >&2; exit 1", "set ended with status 1: a\\x1b[31mb\\ufffd"),
        ("kill -9 $$", "set ended with signal 9"),
        ("head -c 1000000 /dev/zero | tr '\\0' x >&2; exit 1", "set ended with status 1: " + "x" * 300),
    ],
)
async def test_a_failure_is_its_status_and_its_last_words(script: str, message: str, place: Path) -> None:
    error = await failing(target_of(place, set=("sh", "-c", script, "{desired}")), 5)
    assert error.message.replace("�", "\\ufffd") == f"command sh: {message}"
    assert not isinstance(error, TargetChanged)


async def test_programs_that_are_not_there(place: Path) -> None:
    assert (
        "get cannot be started: No such file"
        in (await failing(target_of(place, get=("/no/such/program",)))).message
    )
    (place / "plain").write_text("")
    error = await failing(target_of(place, set=(str(place / "plain"), "{desired}")), 5)
    assert "set cannot be started: Permission denied" in error.message


async def test_nothing_is_set_over_another_number(place: Path) -> None:
    (place / "count").write_text("4")
    error = await failing(target_of(place), 5)
    assert isinstance(error, TargetChanged)
    assert error.message == "command sh: it has 4 workers now, not 3"
    assert (place / "count").read_text() == "4"


async def test_a_program_with_a_precondition_of_its_own(place: Path) -> None:
    target = target_of(place, set=("sh", "-c", "exit 6", "{desired}"))
    error = await failing(target, 5)
    assert isinstance(error, TargetChanged)
    assert "changed since it was read" in error.message


async def test_a_failure_that_left_another_number_is_a_change(place: Path) -> None:
    target = target_of(place, set=("sh", "-c", f"echo 4 >{place}/count; exit 1", "{desired}"))
    assert isinstance(await failing(target, 5), TargetChanged)


async def test_a_failure_after_which_nothing_can_be_told_is_that_failure(place: Path) -> None:
    target = target_of(place, set=("sh", "-c", f"rm {place}/count; echo gone >&2; exit 1", "{desired}"))
    assert (await failing(target, 5)).message == "command sh: set ended with status 1: gone"


async def test_what_takes_too_long_ends_with_all_it_started(place: Path) -> None:
    fifo = place / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    # The shell's child inherits the FIFO, so the FIFO ends only when both are gone.
    script = f"exec 3>'{fifo}'; echo started >&3; sleep 600 & wait"
    target = target_of(place, get=("sh", "-c", script), timeout=timedelta(seconds=1))
    assert "took more than 1 s" in (await failing(target)).message
    await asyncio.to_thread(select.select, [reader], [], [], 5)
    assert os.read(reader, 100) == b"started\n"
    assert select.select([reader], [], [], 5)[0], "the program's child is still running"
    assert os.read(reader, 100) == b""
    os.close(reader)


async def test_a_worker_that_set_started_lives_on(place: Path) -> None:
    """It holds the pipes open, and is neither waited for nor ended."""
    script = f"(while test ! -e {place}/stop; do sleep 0.05; done; echo done >{place}/end) & echo {{desired}} >/dev/null"
    target = target_of(place, set=("sh", "-c", script))
    async with asyncio.timeout(10):
        await resize(target, 5)
    (place / "stop").touch()
    for _ in range(200):
        if (place / "end").exists():
            break
        await asyncio.sleep(0.05)
    assert (place / "end").read_text() == "done\n"
