"""A page is rendered and compressed once for all who take it the same way."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.metrics import text
from streamops.exporter.metrics.reading import ExporterHealth, Reading
from streamops.exporter.metrics.samples import Samples
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.metrics.text import Form
from streamops.exporter.scraping.page import Page
from tests.support.exporter.readings import readings

MORE = b"# HELP more More.\n# TYPE more gauge\nmore 1.0\n"


def a_page() -> Page:
    return Page(Reading(None, health=ExporterHealth(up=False)), Sampler(), 1.0)


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("more", [b"", MORE], ids=["alone", "with more"])
def test_compressed_it_is_the_same(form: Form, more: bytes) -> None:
    page = a_page()
    for _ in range(3):
        assert gzip.decompress(page.packed(form, more)) == b"".join(page.pieces(form, more))


def test_what_ends_a_page_comes_last() -> None:
    page = a_page()
    assert b"".join(page.pieces(Form.TEXT, MORE)) == page.text() + MORE
    assert page.openmetrics().endswith(b"\n# EOF\n")
    assert (
        b"".join(page.pieces(Form.OPENMETRICS, MORE))
        == page.openmetrics().removesuffix(b"# EOF\n") + MORE + b"# EOF\n"
    )


def test_whoever_asks_it_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    page, sampled = a_page(), list[Reading]()
    sample = Sampler.sample

    def count(sampler: Sampler, one: Reading) -> Samples:
        sampled.append(one)
        return sample(sampler, one)

    monkeypatch.setattr(Sampler, "sample", count)
    assert page.render_seconds is None
    for _ in range(3):
        page.packed(Form.OPENMETRICS, MORE)
    assert len(sampled) == 1
    assert page.render_seconds is not None
    for _ in range(3):
        page.text()
        b"".join(page.pieces(Form.TEXT, MORE))
    assert len(sampled) == 2


@given(st.lists(readings(), min_size=2, max_size=2), st.sampled_from(Form), st.integers(1, 3))
def test_a_page_after_another_is_what_a_fresh_sampler_makes(
    those: list[Reading], form: Form, rows: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # Small pieces: where one ends, and none is left, is what may go wrong.
        patch.setattr(text, "ROWS", rows)
        sampler = Sampler()
        for one in (*those, those[0]):
            fresh = b"".join(Page(one, Sampler(), 0.0).pieces(form))
            assert b"".join(Page(one, sampler, 0.0).pieces(form)) == fresh
            assert gzip.decompress(Page(one, sampler, 0.0).packed(form)) == fresh
