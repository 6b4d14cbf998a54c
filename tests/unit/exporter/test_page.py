"""A page is rendered and compressed once for all who take it the same way."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter import page as page_module
from streamops.exporter.page import MetricsPage
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ExporterHealth, ScrapeReading
from streamops.exporter.text import Form, LabelCache, render
from tests.support.exporter.readings import readings

MORE = b"# HELP more More.\n# TYPE more gauge\nmore 1.0\n"
DOWN = ScrapeReading(None, health=ExporterHealth(up=False))


def a_page(reading: ScrapeReading = DOWN) -> MetricsPage:
    return MetricsPage(reading, NO_LIMITS, LabelCache(), 1.0)


@given(readings(), st.sampled_from(Form), st.sampled_from([b"", MORE]))
def test_compressed_it_is_the_same(reading: ScrapeReading, form: Form, more: bytes) -> None:
    page = a_page(reading)
    for _ in range(2):
        assert gzip.decompress(page.packed(form, more)) == page.plain(form, more)


def test_what_ends_a_page_comes_last() -> None:
    page = a_page()
    assert page.plain(Form.TEXT, MORE) == page.plain() + MORE
    alone = page.plain(Form.OPENMETRICS)
    assert alone.endswith(b"\n# EOF\n")
    assert page.plain(Form.OPENMETRICS, MORE) == alone.removesuffix(b"# EOF\n") + MORE + b"# EOF\n"


def test_whoever_asks_it_is_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    page, rendered = a_page(), list[Form]()

    def count(*given: object) -> object:
        rendered.append(given[2])  # type: ignore[arg-type]  # the form
        return render(*given)  # type: ignore[arg-type]  # what it was given

    monkeypatch.setattr(page_module, "render", count)
    assert page.render_seconds is None
    for _ in range(3):
        page.packed(Form.OPENMETRICS, MORE)
        page.plain(Form.TEXT, MORE)
    assert rendered == [Form.OPENMETRICS, Form.TEXT]
    assert page.render_seconds is not None
