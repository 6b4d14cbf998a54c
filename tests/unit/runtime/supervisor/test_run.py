"""``streamops run``: real processes, told by real signals."""

import sys
from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.runtime.loading import load_app
from tests.support.runtime.supervisor.run import APP


@pytest.mark.parametrize(
    ("app", "words"),
    [
        ("import nowhere_at_all", "does not import: No module named 'nowhere_at_all'"),
        ("app = 1", "is a int, no application"),
        ("def app(:", "does not import: SyntaxError"),
        (APP.replace("entry: Entry", "entry"), "parameter entry: has no type"),
        (APP.replace("concurrency=2", "concurrency=-1"), "concurrency=-1"),
    ],
)
def test_what_is_no_application_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, app: str, words: str
) -> None:
    (tmp_path / "stall.py").write_text(app)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(SettingsError) as caught:
        load_app("stall")
    sys.modules.pop("stall", None)
    assert words in caught.value.message
    assert caught.value.hint
