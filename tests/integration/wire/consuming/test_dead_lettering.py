"""An entry leaves the list of pending ones only once its dead letter stands in the queue."""

import pytest

from streamops.errors import ServerError
from streamops.model.deliveries import DeadLetterDraft, Settled
from streamops.wire.consuming.settling import dead_letter_all
from tests.support.wire.consuming.settling import bury
from tests.support.wire.consuming.shop import Shop

LAST_ID = "18446744073709551615-18446744073709551615"
PAIRS = 4_000
"""More than a script can hand to XADD."""


def letter_of(one: bytes) -> DeadLetterDraft:
    return DeadLetterDraft(one, reason="rejected", error="no", deliveries=1, attempt=1)


async def test_an_entry_whose_letter_cannot_be_written_stays_pending(shop: Shop) -> None:
    """The queue has given out its very last ID, which is found out at the letter alone."""
    shop.command("XADD", shop.ann.dead_letters, LAST_ID, "f", "v")
    (one,) = shop.deliver(1)
    with pytest.raises(ServerError, match="exhausted"):
        await bury(shop.server, shop.ann, retries=False, letter=letter_of(one))
    assert list(shop.pending()) == [one]
    assert len(shop.letters) == 1


async def test_of_several_wide_letters_each_is_written(shop: Shop) -> None:
    ids = shop.deliver(2, *("f", "v") * PAIRS)
    became = await dead_letter_all(shop.server, shop.ann, retries=False, rows=[letter_of(one) for one in ids])
    assert became == [Settled.DONE] * 2
    origins = [dict(zip(fields[-18::2], fields[-17::2], strict=True)) for fields in shop.letters]
    assert [about[b"_so_origin_id"] for about in origins] == ids
    assert shop.pending() == {}
