import stat
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from streamops.errors import SettingsError
from streamops.model.silences import Silence
from streamops.settings.silences import SilenceFile, _decoded, _encoded
from tests.support.invented import NOW

UNTIL = NOW + timedelta(hours=1)
ONE = Silence(("stalled", "orders", "billing"), UNTIL)
SERVER = Silence(("oom", None, None), UNTIL)
ODD = Silence(("poison", "\udcff\x1b[31m %20", "日本"), UNTIL)


def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def test_silences_are_kept_by_context(tmp_path: Path) -> None:
    prod, staging = (SilenceFile(name, environ(tmp_path)) for name in ("prod", "staging"))
    assert prod.read() == ()
    prod.update(lambda _: [ONE, SERVER, ODD])
    staging.update(lambda _: [SERVER])
    assert prod.read() == (ONE, SERVER, ODD)
    prod.update(lambda _: [])
    assert prod.read() == ()
    assert staging.read() == (SERVER,)


def test_the_file_is_for_its_owner_alone_and_can_be_read(tmp_path: Path) -> None:
    file = SilenceFile("prod", environ(tmp_path))
    file.update(lambda _: [ONE])
    path = tmp_path / "streamops" / "silences.json"
    assert file.where == str(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert '"stream": "orders"' in path.read_text("ascii")
    assert list(path.parent.iterdir()) == [path]


def test_what_a_later_version_wrote_is_kept(tmp_path: Path) -> None:
    """Beside what is known here: of silences that stay, of those that last longer, and of other contexts."""
    file = SilenceFile("prod", environ(tmp_path))
    path = tmp_path / "streamops" / "silences.json"
    path.parent.mkdir()
    until, later = UNTIL.isoformat().replace("+00:00", "Z"), UNTIL + timedelta(hours=1)
    oom = {"code": "oom", "until": until, "by": "ann"}
    stalled = {
        "code": "stalled",
        "until": until,
        "stream": "orders",
        "group": "billing",
        "why": {"ticket": 7},
    }
    gone = {"code": "poison", "until": until, "by": "bob"}
    path.write_bytes(msgspec.json.encode({"prod": [oom, stalled, gone], "staging": [oom]}))
    assert file.read()[:2] == (SERVER, ONE)
    file.update(lambda _: [SERVER, replace(ONE, until=later), ODD])
    assert file.read() == (SERVER, replace(ONE, until=later), ODD)
    found = msgspec.json.decode(path.read_bytes())
    assert found["staging"] == [oom]
    assert found["prod"][:2] == [oom, stalled | {"until": later.isoformat().replace("+00:00", "Z")}]
    assert found["prod"][2].keys() == {"code", "until", "stream", "group"}


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"prod": [{"code": 1}]}', b'{"v": 2}', b"\xff"])
def test_a_damaged_file_is_told_and_never_overwritten(tmp_path: Path, content: bytes) -> None:
    file = SilenceFile("prod", environ(tmp_path))
    path = tmp_path / "streamops" / "silences.json"
    path.parent.mkdir()
    path.write_bytes(content)
    for act in (file.read, lambda: file.update(lambda _: [ONE])):
        with pytest.raises(SettingsError, match="silences"):
            act()
    assert path.read_bytes() == content


def test_without_a_home_nothing_is_kept(tmp_path: Path) -> None:
    del tmp_path
    file = SilenceFile("prod", {})
    assert file.where == ""
    assert file.read() == ()
    with pytest.raises(SettingsError, match="no place to keep silences"):
        file.update(lambda _: [ONE])


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "streamops").write_text("a file")
    with pytest.raises(SettingsError, match="cannot write"):
        SilenceFile("prod", environ(tmp_path)).update(lambda _: [ONE])


@given(st.binary(max_size=20))
def test_every_name_survives(name: bytes) -> None:
    text = name.decode("utf-8", "surrogateescape")
    encoded = _encoded(text)
    assert encoded is not None
    assert encoded.isascii()
    assert _decoded(encoded) == text
