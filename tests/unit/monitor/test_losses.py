import pytest

from streamops.model.entries import ZERO_ID
from streamops.monitor.rates import losses
from streamops.monitor.samples import GroupSample, StreamSample
from tests.support.invented import at


def sample(
    position: int,
    *,
    lag: int | None,
    read: int | None = None,
    first: int | None = 1,
    added: int | None = 10,
    deleted: int | None = 0,
) -> GroupSample:
    """A group of a stream whose entries, ``added`` so far, are numbered from one."""
    length = 0 if first is None or added is None else added - first + 1
    stream = StreamSample(
        length,
        None if first is None else at(first),
        at(added or 10),
        added,
        None if deleted is None else (at(deleted) if deleted else ZERO_ID),
    )
    return GroupSample(stream, at(position), read, 0, lag)


@pytest.mark.parametrize(
    ("earlier", "later", "lost"),
    [
        pytest.param(sample(3, lag=7), sample(3, lag=2, first=9), 5, id="the position stood"),
        pytest.param(
            sample(3, lag=7, read=3), sample(10, lag=0, read=5, first=9), 5, id="drained since, counter sound"
        ),
        pytest.param(
            sample(3, lag=7, read=3),
            sample(10, lag=0, read=10, first=9),
            0,
            id="drained since, counter jumped",
        ),
        pytest.param(sample(3, lag=7), sample(10, lag=0, first=9), None, id="drained since, no counter"),
        pytest.param(
            sample(3, lag=7), sample(3, lag=4, first=17, added=20), 13, id="others were added and lost too"
        ),
        pytest.param(sample(3, lag=7), sample(3, lag=0, first=None), 7, id="all lost"),
        pytest.param(sample(3, lag=7), sample(3, lag=7, first=4), 0, id="trimmed up to the position"),
        pytest.param(sample(3, lag=7), sample(3, lag=8, first=3, added=11), 0, id="trimmed behind it"),
        pytest.param(sample(3, lag=None), sample(5, lag=None, first=4), None, id="lag unknown"),
        pytest.param(sample(5, lag=None), sample(8, lag=None, first=4), 0, id="lag unknown, trimmed behind"),
        pytest.param(sample(5, lag=None), sample(8, lag=None), 0, id="lag unknown, not trimmed"),
        pytest.param(sample(10, lag=0), sample(10, lag=0, first=None), 0, id="drained and emptied"),
        pytest.param(
            sample(3, lag=7), sample(3, lag=2, first=9, deleted=6), None, id="some may have been deleted"
        ),
        pytest.param(
            sample(3, lag=7), sample(3, lag=2, first=9, deleted=3), 5, id="deleted behind it, trimmed ahead"
        ),
        pytest.param(
            sample(3, lag=7, added=None, deleted=None),
            sample(3, lag=2, first=9, added=None, deleted=None),
            None,
            id="before Redis 7.0",
        ),
        pytest.param(
            sample(9, lag=1, added=None, deleted=None),
            sample(9, lag=1, first=9, added=None, deleted=None),
            0,
            id="before Redis 7.0, trimmed behind",
        ),
    ],
)
def test_entries_lost_between_two_samples_are_counted(
    earlier: GroupSample, later: GroupSample, lost: int | None
) -> None:
    before, after = earlier.stream.entries_added, later.stream.entries_added
    added = None if before is None or after is None else after - before
    assert losses(earlier, later, added) == lost
