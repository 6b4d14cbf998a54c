"""Pieces compressed apart are one file of gzip, whoever reads it and whichever library made them."""

import gzip
import zlib
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.scraping import gzipped
from streamops.exporter.scraping.gzipped import pack, whole

LIBRARIES = [zlib, vars(gzipped)["deflate"]]
TEXTS = st.lists(st.binary(max_size=200) | st.integers(1, 1 << 17).map(lambda size: b"a line\n" * size))


@pytest.mark.parametrize("library", LIBRARIES, ids=["zlib", "what is installed"])
@given(TEXTS)
def test_it_is_one_member_that_every_reader_takes(library: ModuleType, texts: list[bytes]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gzipped, "deflate", library)
        packed = whole(map(pack, texts))
    assert gzip.decompress(packed) == b"".join(texts)
    reader = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert reader.decompress(packed) == b"".join(texts)
    assert reader.eof
    assert reader.unused_data == b""


def test_a_piece_serves_again_wherever_it_stands() -> None:
    one, other = pack(b"one\n" * 999), pack(b"other\n")
    assert gzip.decompress(whole([one, other, one])) == b"one\n" * 999 + b"other\n" + b"one\n" * 999


def test_what_was_changed_on_its_way_is_noticed() -> None:
    packed = whole([pack(b"streamops_up 1.0\n"), pack(b"streamops_up 1.0\n")])
    changed = packed.replace(packed[-8:-4], bytes(one ^ 1 for one in packed[-8:-4]))
    with pytest.raises(gzip.BadGzipFile, match="CRC"):
        gzip.decompress(changed)
