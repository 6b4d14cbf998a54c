"""What pools look like, and acting on them."""

import pytest

from tests.support.tui.beside_snapshots import keys
from tests.support.tui.shop import shop_source
from tests.support.tui.snapshots import SIZES, Compare
from tests.support.tui.source import app_for

LOOKS = {
    "pools": ["5", "5", "r"],
    "pools stuck": ["5", "5", "down", "down", "r"],
    "pool": ["5", "5", "enter"],
    "scale": ["5", "5", "S", "8"],
}


@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "{}x{}".format(*size))
def test_screen(snap_compare: Compare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(app_for(shop_source()), terminal_size=size, run_before=keys(*LOOKS[name]))
