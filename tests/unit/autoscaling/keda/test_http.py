"""The same number over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import bcrypt
import pytest
from msgspec.structs import replace

from streamops.autoscaling.keda.answers import Board, GroupRead
from streamops.autoscaling.keda.http import HttpOptions, serving
from streamops.errors import SettingsError
from tests.support.autoscaling.keda.serving import ASLEEP, BLIND, KNOWN


class Site(NamedTuple):
    """A running server, and a client of it."""

    session: aiohttp.ClientSession
    port: int

    async def get(self, path: str, **given: Any) -> tuple[int, str]:
        """The status and the text that a path answers."""
        url = f"http://127.0.0.1:{self.port}{path}"
        async with self.session.get(url, **given) as answer:
            return answer.status, await answer.text()

    async def document(self, path: str) -> dict[str, Any]:
        """The JSON that a path answers."""
        async with self.session.get(f"http://127.0.0.1:{self.port}{path}") as answer:
            assert answer.status == 200
            found: dict[str, Any] = await answer.json()
            return found


@asynccontextmanager
async def visiting(board: Board, web_config: Path | None = None) -> AsyncIterator[Site]:
    async with (
        serving(HttpOptions(port=0, web_config=web_config), board) as port,
        aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20)) as session,
    ):
        yield Site(session, port)


@pytest.fixture
async def site(board: Board) -> AsyncIterator[Site]:
    async with visiting(board) as running:
        yield running


async def test_the_document_of_a_pool_tells_workers_lag_and_time(board: Board, site: Site) -> None:
    board.post("orders", KNOWN)
    assert await site.document("/pools/orders") == {
        "schema": "streamops.pool/1",
        "pool": "orders",
        "desired_workers": 7,
        "active": True,
        "lag_known": True,
        "observed_at": "2026-11-21T12:00:00Z",
        "reason": "backlog of 900 entries",
    }


async def test_what_was_known_is_repeated_with_why(board: Board, site: Site) -> None:
    board.post("orders", ASLEEP)
    board.post("orders", BLIND)
    document = await site.document("/pools/orders")
    assert (document["desired_workers"], document["active"], document["lag_known"]) == (0, False, False)
    # When it was last so, and not when it was last looked for.
    assert document["observed_at"] == "2026-11-21T12:00:00Z"
    assert document["reason"] == "Redis does not answer"


async def test_what_was_never_known_is_no_number(board: Board, site: Site) -> None:
    told = "how many workers pool orders should have is not known: "
    assert await site.get("/pools/orders") == (503, f"{told}it has not been evaluated yet\n")
    board.post("orders", BLIND)
    assert await site.get("/pools/orders") == (503, f"{told}Redis does not answer\n")


async def test_other_paths_and_pools_are_not_found(site: Site) -> None:
    assert await site.get("/pools/order") == (404, "no pool order; known: orders, mail\n")
    assert await site.get("/pools/a%0Ab%2Fc") == (404, "no pool a\\nb/c; known: orders, mail\n")
    assert (await site.get("/pools/"))[0] == (await site.get("/"))[0] == 404


async def test_any_name_can_be_asked_for() -> None:
    board = Board(dict.fromkeys(("shop/orders é", "\udcff"), GroupRead("orders", "billing")))
    for name in board.reads:
        board.post(name, replace(KNOWN, reason="as \udcff says"))
    async with visiting(board) as site:
        document = await site.document("/pools/shop%2Forders%20%C3%A9")
        assert document["pool"] == "shop/orders é"
        assert document["reason"] == r"as \xff says"


async def test_health_and_readiness(board: Board, site: Site) -> None:
    assert await site.get("/-/healthy") == (200, "healthy\n")
    assert await site.get("/-/ready") == (503, "not ready: pools not evaluated yet: orders, mail\n")
    board.post("orders", KNOWN)
    assert await site.get("/-/ready") == (503, "not ready: pools not evaluated yet: mail\n")
    # A look that failed is a look: KEDA is to be told that nothing is known.
    board.post("mail", BLIND)
    assert await site.get("/-/ready") == (200, "ready\n")


async def test_passwords_are_asked_for_as_the_exporter_does(board: Board, tmp_path: Path) -> None:
    board.post("orders", KNOWN)
    hashed = bcrypt.hashpw(b"secret", bcrypt.gensalt(4)).decode()
    config = tmp_path / "web.yml"
    config.write_text(f"basic_auth_users: {{keda: '{hashed}'}}\n")
    async with visiting(board, config) as site:
        assert await site.get("/pools/orders") == (401, "Unauthorized\n")
        authorization = {"Authorization": aiohttp.encode_basic_auth("keda", "secret")}
        assert (await site.get("/pools/orders", headers=authorization))[0] == 200


async def test_an_address_that_is_taken_is_told_in_words(board: Board, site: Site) -> None:
    with pytest.raises(SettingsError) as failure:
        async with serving(HttpOptions(port=site.port), board):
            pass
    assert failure.value.message == f"cannot listen at 127.0.0.1:{site.port}: Address already in use"
    assert failure.value.hint == "Choose another address with --http HOST:PORT."
