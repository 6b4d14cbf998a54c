"""What a press keeps of one page changes nothing about the next one."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.metrics import text
from streamops.exporter.metrics.reading import Reading
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.scraping.gzipped import Packed, pack, whole
from streamops.exporter.scraping.negotiating import Form
from streamops.exporter.scraping.press import Press
from tests.support.exporter.readings import reading, readings
from tests.support.invented import consumer, group, seconds, snapshot, stream


@pytest.fixture
def packed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The families whose pieces are packed, as they are."""
    families: list[str] = []

    def noted(page: bytes) -> Packed:
        families.append(page.decode().rstrip().splitlines()[-1].partition("{")[0].partition(" ")[0])
        return pack(page)

    monkeypatch.setattr("streamops.exporter.scraping.press.pack", noted)
    return families


def shop(**changes: int) -> Reading:
    """Two streams, of which the first has one group that may differ."""
    settings = {"lag": 3, "pending": 2} | changes
    groups = [group("billing", members=[consumer("c1", idle=seconds(5))], **settings)]  # type: ignore[arg-type]
    return reading(snapshot(stream("orders", groups), stream("refunds", [group("billing")])))


@given(st.lists(readings(), min_size=2, max_size=2), st.sampled_from(Form), st.integers(1, 3))
def test_press_prints_what_a_fresh_one_would(those: list[Reading], form: Form, rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Small pieces: where one ends, and none is left, is what may go wrong.
        patch.setattr(text, "ROWS", rows)
        press = Press(Sampler())
        for one in (*those, those[0]):
            fresh = b"".join(Press(Sampler()).printed(one, form))
            assert b"".join(press.printed(one, form)) == fresh
            assert gzip.decompress(whole(press.packed(one, form))) == fresh


def test_only_what_changed_is_packed_again(packed: list[str]) -> None:
    press = Press(Sampler())
    press.packed(shop(), Form.TEXT)
    packed.clear()
    press.packed(shop(), Form.TEXT)
    assert packed == []
    press.packed(shop(pending=7), Form.TEXT)
    assert packed == ["streamops_group_pending_entries"]


def test_each_format_has_pieces_of_its_own(packed: list[str]) -> None:
    press = Press(Sampler())
    press.packed(shop(), Form.TEXT)
    first = sorted(packed)
    packed.clear()
    press.packed(shop(), Form.OPENMETRICS)
    assert sorted(packed) == first
