"""A page is the same however it is taken."""

import gzip

from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import Form, LabelCache
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ExporterHealth, ScrapeReading
from tests.support.exporter.readings import readings

MORE = b"# HELP more More.\n# TYPE more gauge\nmore 1.0\n"
DOWN = ScrapeReading(None, health=ExporterHealth(up=False))


def a_page(reading: ScrapeReading = DOWN) -> MetricsPage:
    return MetricsPage(reading, NO_LIMITS, LabelCache(), 1.0)


@given(readings(), st.sampled_from(Form), st.sampled_from([b"", MORE]))
def test_compressed_it_is_the_same(reading: ScrapeReading, form: Form, more: bytes) -> None:
    page = a_page(reading)
    assert gzip.decompress(page.packed(form, more)) == page.plain(form, more)


def test_what_ends_a_page_comes_last() -> None:
    page = a_page()
    assert page.plain(Form.TEXT, MORE) == page.plain() + MORE
    alone = page.plain(Form.OPENMETRICS)
    assert alone.endswith(b"\n# EOF\n")
    assert page.plain(Form.OPENMETRICS, MORE) == alone.removesuffix(b"# EOF\n") + MORE + b"# EOF\n"


def test_how_long_it_took_is_known_once_it_is_rendered() -> None:
    page = a_page()
    assert page.render_seconds is None
    page.packed(Form.OPENMETRICS, MORE)
    assert page.render_seconds is not None
