"""Rules of dead letters and of the server: what they say, and what they make of what is not known; the rest is in the series."""

import pytest

from streamops.model.observation import FindingCode, Health
from streamops.model.streams import ServerNode, StreamRole, StreamState
from streamops.monitor.history import StreamHistory
from streamops.monitor.rules.streams import dead_letters, eviction_risk, oom
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import minutes, node
from tests.support.monitor.subjects import dead_letter_subject

THRESHOLDS = Thresholds()
WARN, CRITICAL = Health.WARN, Health.CRITICAL


@pytest.mark.parametrize(
    ("subject", "level", "text"),
    [
        pytest.param(
            dead_letter_subject(13, before=3, over=minutes(30)),
            WARN,
            "13 dead letters, 10 added in 30 min",
            id="they come slowly, readings are sparse",
        ),
        pytest.param(
            dead_letter_subject(23, before=3, over=minutes(30)),
            CRITICAL,
            "23 dead letters, 20 added in 30 min",
            id="they come, readings are sparse",
        ),
        pytest.param(
            dead_letter_subject(13, before=3, counted=False, source="orders"),
            WARN,
            "13 dead letters of orders",
            id="additions not known",
        ),
        pytest.param(
            dead_letter_subject(13, before=3, role=StreamRole.EVENTS), None, None, id="other stream"
        ),
        pytest.param(dead_letter_subject(13, before=3, role=StreamRole.RETRY), None, None, id="retry stream"),
    ],
)
def test_a_queue_of_dead_letters_is_found_and_worse_while_it_grows(
    subject: tuple[StreamState, StreamHistory], level: Health | None, text: str | None
) -> None:
    finding = dead_letters(*subject, THRESHOLDS)
    assert (finding and finding.level) == level
    assert (finding and finding.text) == text
    if finding is not None:
        assert finding.code is FindingCode.DEAD_LETTERS
        assert finding.advice.endswith("then replay them: streamops replay orders:dlq")


def test_dead_letters_below_a_threshold_of_ones_own() -> None:
    assert dead_letters(*dead_letter_subject(4), Thresholds(dead_letters=5)) is None
    assert dead_letters(*dead_letter_subject(5), Thresholds(dead_letters=5)) is not None


def full(percent: int | None, policy: str, *, limit: int | None = 1_000) -> ServerNode:
    used = None if percent is None else percent * 10
    return node(used_memory=used, max_memory=limit, policy=policy)


@pytest.mark.parametrize(
    ("judged", "level"),
    [
        pytest.param(full(99, "allkeys-lru", limit=0), None, id="no limit"),
        pytest.param(full(99, "allkeys-lru", limit=None), None, id="limit unknown"),
        pytest.param(full(None, "allkeys-lru"), None, id="use unknown"),
        pytest.param(full(70, "volatile-ttl"), WARN, id="only keys with a time to live"),
        pytest.param(full(69, "volatile-ttl"), None, id="only keys with a time to live, far"),
        pytest.param(full(99, ""), None, id="policy unknown"),
    ],
)
def test_a_nearly_full_server_that_evicts_is_a_risk(judged: ServerNode, level: Health | None) -> None:
    finding = eviction_risk(judged, "", THRESHOLDS)
    assert (finding and finding.level) == level
    assert finding is None or finding.code is FindingCode.EVICTION_RISK


@pytest.mark.parametrize(
    ("judged", "fires"),
    [
        pytest.param(full(99, "noeviction", limit=0), False, id="no limit"),
        pytest.param(full(99, "noeviction", limit=None), False, id="limit unknown"),
        pytest.param(full(None, "noeviction"), False, id="use unknown"),
        pytest.param(full(99, ""), False, id="policy unknown"),
    ],
)
def test_a_nearly_full_server_that_evicts_nothing_is_found(judged: ServerNode, fires: bool) -> None:  # noqa: FBT001 - a column of a table
    finding = oom(judged, "", THRESHOLDS)
    assert (finding is not None) == fires
    if finding is not None:
        assert (finding.code, finding.level) == (FindingCode.OOM, CRITICAL)
        assert "XADD is refused while XACK works" in finding.text
