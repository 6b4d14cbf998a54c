"""What is no HTTP, at each web face: an answer, a line now and then, and never a traceback."""

import gzip
import logging
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.service import requests
from streamops.service.requests import REFUSALS, LargeBody, MalformedBody, decoded
from tests.support.security.malformed import MALFORMED, encoded, status
from tests.support.security.web import asked
from tests.unit.security.test_web import exporter, intake
from tests.unit.security.test_web_faces import console, keda, workers

Serving = Callable[[], AbstractAsyncContextManager[int]]

FACES = {"exporter": exporter, "intake": intake, "console": console, "keda": keda, "workers": workers}
ALL = pytest.mark.parametrize("serve", FACES.values(), ids=FACES)


@pytest.fixture(autouse=True)
def counted_anew() -> Iterator[None]:
    REFUSALS.reset()
    yield
    REFUSALS.reset()


@ALL
async def test_malformed_requests_are_answered_and_told_in_one_line(
    serve: Serving, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with serve() as port:
        statuses = {name: status(await asked(port, request)) for name, request in MALFORMED.items()}
        for encoding in ("gzip", "deflate"):
            answer = await asked(port, encoded("GET", "/-/healthy", encoding, b"this is neither"))
            assert status(answer) in {200, 404}
        unknown = status(await asked(port, encoded("GET", "/", "rot13", b"x")))
    assert statuses == dict.fromkeys(MALFORMED, 400)
    assert unknown == 415
    (record,) = caplog.records
    assert record.exc_info is None
    assert record.getMessage().startswith("malformed requests refused: 1, the last: ")


async def test_those_that_no_line_told_of_are_counted_in_the_next(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO)
    async with exporter() as port:
        for _ in range(5):
            await asked(port, MALFORMED["header"])
        monkeypatch.setattr(requests, "EVERY_SECONDS", 0.0)
        await asked(port, MALFORMED["header"])
    first, second = (record.getMessage() for record in caplog.records)
    assert first.startswith("malformed requests refused: 1,")
    assert second.startswith("malformed requests refused: 5,")


@given(st.binary(max_size=300), st.sampled_from([("gzip", 31), ("deflate", 15), ("deflate", -15)]))
def test_a_body_is_decoded_to_its_end_or_refused(body: bytes, encoded_by: tuple[str, int]) -> None:
    encoding, window = encoded_by
    packer = zlib.compressobj(wbits=window)
    packed = packer.compress(body) + packer.flush()
    assert decoded(packed, encoding, 300) == body
    for broken in (packed[:-1], packed + b"x", b"\xff" + packed[1:-1]):
        with pytest.raises(MalformedBody):
            decoded(broken, encoding, 300)


@given(st.binary(max_size=100), st.sampled_from(["gzip", "deflate"]))
def test_any_bytes_are_a_body_or_refused(body: bytes, encoding: str) -> None:
    with suppress(MalformedBody, LargeBody):
        assert len(decoded(body, encoding, 50)) <= 50


def test_what_was_compressed_is_inflated_up_to_what_a_body_may_have() -> None:
    with pytest.raises(LargeBody):
        decoded(gzip.compress(bytes(1 << 20)), "gzip", 1 << 16)
