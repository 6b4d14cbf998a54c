"""E: a job queue for a web application."""

import asyncio
import signal
from datetime import timedelta

import aiohttp
import msgspec
import pytest
from aiohttp import web

from streamops.runtime import Entry, Exponential, Jitter, Streamops
from streamops.runtime.events import Retried
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions
from tests.support.requirements.processes import Commands, until
from tests.support.servers import RunningServer


class SendMail(msgspec.Struct):
    """A job: its data, what it does, and what is done once it is given up."""

    to: str
    body: str = ""

    async def handle(self) -> None:
        if not self.to:
            raise ValueError("no address")
        SENT.append(self.to)

    def failed(self, error: BaseException) -> None:
        FAILED.append(f"{self.to}: {error}")


SENT: list[str] = []
FAILED: list[str] = []
TENFOLD = Exponential(base=10, cap=86_400, jitter=Jitter.NONE)

JOBS = """
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="workers", start="0")
def handle(entry: Entry) -> None:
    with open("ledger", "a") as ledger:
        ledger.write(f"{entry.id}\\n")
"""


@pytest.fixture(autouse=True)
def _nothing_sent() -> None:
    SENT.clear()
    FAILED.clear()


def mailing(max_attempts: int = 3) -> Streamops:
    """An application of one kind of job."""
    app = Streamops()

    def give_up(entry: Entry, error: BaseException) -> None:
        msgspec.json.decode(entry.get("data") or b"", type=SendMail).failed(error)

    @app.handler(
        "mails", group="mailers", retry=TENFOLD, max_deliveries=max_attempts, timeout=30, failed=give_up
    )
    async def send(mail: SendMail) -> None:
        await mail.handle()

    return app


async def test_e1_a_job_has_data_attempts_a_timeout_and_is_told_when_it_failed(
    redis: ConnectionOptions,
) -> None:
    app = mailing(max_attempts=2)
    (handler,) = app.handlers
    assert (handler.retry.most, handler.timeout) == (2, timedelta(seconds=30))
    async with staged(app, redis) as stage:
        await stage.publish("mails", SendMail("ann@example.net"))
        await stage.publish("mails", SendMail(""))
        await stage.idle(delayed=False)
        assert FAILED == []
        await stage.hasten()
        await stage.idle()
    assert SENT == ["ann@example.net"]
    assert FAILED == [": no address"]


async def test_e2_a_job_is_pushed_now_or_later(redis: ConnectionOptions) -> None:
    async with staged(mailing(), redis) as stage:
        await stage.publish("mails", SendMail("now"))
        await stage.publish("mails", SendMail("in a moment"), delay=0.02)
        await stage.publish("mails", SendMail("tomorrow"), delay=86_400)
        await stage.idle(delayed=False)
        await stage.hasten()
        await stage.idle()
    assert sorted(SENT) == ["in a moment", "now", "tomorrow"]
    assert SENT[0] == "now"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_e3_a_worker_is_a_command_that_ends_when_it_is_told_to(
    server: RunningServer, commands: Commands, number: signal.Signals
) -> None:
    """And is replaced after so many jobs."""
    commands.write("shop.py", JOBS)
    ids = [server.command("XADD", "jobs", "*", "n", "1").decode() for _ in range(30)]
    with commands.running("run", "shop:app", "--max-jobs", "10") as running:
        until(lambda: len(commands.lines("ledger")) == 30)
        until(lambda: "worker recycled" in running.log)
        # Its successor is being started at this moment; it has to hear of it too.
        assert running.ended(number) == 0
    assert sorted(commands.lines("ledger")) == sorted(ids)


async def test_e4_backoff_is_ten_times_two_to_the_n_and_the_last_attempt_buries(
    redis: ConnectionOptions,
) -> None:
    app, waits = mailing(max_attempts=5), list[float]()

    @app.on(Retried)
    def note(event: Retried) -> None:
        waits.append(event.delay.total_seconds())

    async with staged(app, redis) as stage:
        await stage.publish("mails", SendMail(""))
        for _ in range(4):
            await stage.idle(delayed=False)
            await stage.hasten()
        await stage.idle()
        (letter,) = await stage.letters("mails")
    assert waits == [10, 20, 40, 80]
    assert (letter.reason, letter.attempt) == ("max-deliveries", 5)


async def test_e5_a_web_request_answers_before_its_job_is_done(redis: ConnectionOptions) -> None:
    """It costs one publish, whose p99 ``bench_publish`` measures."""
    app, gate, done = Streamops(redis), asyncio.Event(), list[str]()

    @app.handler("mails", group="mailers")
    async def send(mail: SendMail) -> None:
        await gate.wait()
        done.append(mail.to)

    async with staged(app, redis) as stage, app.publisher() as publisher:

        async def order(request: web.Request) -> web.Response:
            job = await publisher.publish("mails", SendMail(await request.text()))
            return web.json_response({"job": job}, status=202)

        site = web.Application()
        site.router.add_post("/orders", order)
        runner = web.AppRunner(site)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        url = f"http://127.0.0.1:{runner.addresses[0][1]}/orders"
        async with aiohttp.ClientSession() as session, session.post(url, data="ann@example.net") as answer:
            assert answer.status == 202
        assert done == []
        gate.set()
        await stage.idle()
        await runner.cleanup()
    assert done == ["ann@example.net"]
