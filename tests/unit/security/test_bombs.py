"""A few bytes that unpack to any number take no more than a bounded share of memory, and then are refused."""

import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from streamops.errors import SettingsError, UnexpectedReply
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.expressions import Expression
from streamops.operations import packing
from streamops.operations.packing import unpack_values
from streamops.operations.undo_snapshots import unpack_pages
from streamops.resources.payloads import preview, render_entry
from streamops.settings.files import MOST_CLONED_BYTES, MOST_DOTS, read_project
from tests.support.tables import table

MOST = 1 << 20
BOMB = zlib.compress(b" " * (64 * MOST) + b"{}")


def peak(work: Callable[[], object]) -> int:
    """The most memory that something takes meanwhile."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("unpack", [unpack_values, unpack_pages])
def test_records_of_redis_are_not_inflated_beyond_their_bound(
    unpack: Callable[[bytes], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MOST_BYTES", MOST)

    def work() -> None:
        with pytest.raises(UnexpectedReply):
            unpack(BOMB)

    assert peak(work) < 4 * MOST


@pytest.mark.parametrize(
    "text",
    [
        "[a" + ".a" * 20_000 + "]",
        "".join(f"[k{number}" + ".a" * MOST_DOTS + "]\n" for number in range(100)),
    ],
    ids=["one deep table", "many deep tables"],
)
def test_a_file_that_was_cloned_takes_no_memory_to_speak_of(tmp_path: Path, text: str) -> None:
    path = tmp_path / "streamops.toml"
    path.write_text(text)
    assert len(text) < MOST_CLONED_BYTES
    assert peak(lambda: read_project(path, {})) < 64 << 20


def test_runs_that_overlap_make_no_more_rows_than_there_are() -> None:
    """A page tells IDs once, and what they have in common; telling that again and again would multiply them."""
    ids = [f"{number}-0" for number in range(1, 1001)]
    page = (0, ["77"], ids, [0, 0, 1, 0] * 500 + [0, 0, 1, 1000, 0, 0, 1, 0] * 500)
    with pytest.raises(UnexpectedReply):
        unpack_pages(zlib.compress(msgspec.msgpack.encode([page])))


@table("opening", [b"[", b'{"a":', b"\x91", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"])
def test_a_payload_of_any_depth_or_claim_is_shown_all_the_same(opening: bytes) -> None:
    entry = StreamEntry(EntryId(1, 0), ((b"body", opening * 100_000),))
    assert preview(entry)
    assert peak(lambda: render_entry(entry)) < 32 * MOST


DOUBLING = "[@,@]" + "|[@,@]" * 60


@table(
    "text",
    [
        f"to_string({DOUBLING})",
        f"({DOUBLING}) == ({DOUBLING})",
        f"({DOUBLING})" + "|[]" * 60,
        "id" + "".join("|{a: @, b: @}" for _ in range(60)) + "|to_string(@)",
        "fields.*" + "|[*].[`0`,`0`,`0`,`0`]|[]" * 20,
        "to_string([" * 40 + "'\"'" + "])" * 40,
        "fields.* | map(&[@,@], @)" + "|map(&[@,@], @)" * 60 + "|to_string(@)",
    ],
)
def test_an_expression_that_multiplies_what_it_looks_at_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="multiplies"):
        Expression(text)


@table(
    "text",
    [
        'fields.a == \'x\' && contains(`["a","b","c","d"]`, fields.b) || json.n > `3`',
        "length(json.items[?price > `10`]) > `2`",
        " || ".join(f"fields.a == '{number}'" for number in range(300)),
        "json.items[*].{a: a, b: b} | [0].a == 'x'",
        "sort_by(json.items, &price)[-1].price > `5`",
    ],
)
def test_an_expression_that_people_write_is_taken(text: str) -> None:
    Expression(text)
