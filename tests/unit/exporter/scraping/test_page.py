"""A page is rendered and compressed once for all who take it the same way."""

import gzip
from typing import Any

import pytest

from streamops.exporter.metrics.reading import ExporterHealth, Reading
from streamops.exporter.metrics.sampling import Sampler
from streamops.exporter.scraping.negotiating import Form
from streamops.exporter.scraping.page import Page
from streamops.exporter.scraping.press import Press

MORE = b"# HELP more More.\n# TYPE more gauge\nmore 1.0\n"


@pytest.fixture
def rendered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is rendered, as it is."""
    calls: list[str] = []
    for name in ("printed", "packed"):
        render = getattr(Press, name)

        def count(press: Press, one: Reading, form: Form, name: str = name, render: Any = render) -> Any:  # noqa: ANN401 - either's
            calls.append(f"{name} {form.name}")
            return render(press, one, form)

        monkeypatch.setattr(Press, name, count)
    return calls


def a_page() -> Page:
    return Page(Reading(None, health=ExporterHealth(up=False)), Press(Sampler()), 1.0)


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


def test_whoever_asks_it_is_made_once(rendered: list[str]) -> None:
    page = a_page()
    assert page.render_seconds is None
    for _ in range(3):
        page.packed(Form.OPENMETRICS, MORE)
    assert rendered == ["packed OPENMETRICS"]
    assert page.render_seconds is not None
    for _ in range(3):
        page.text()
        b"".join(page.pieces(Form.TEXT, MORE))
    assert rendered == ["packed OPENMETRICS", "printed TEXT"]
