import pytest

from streamops.model.server import Flavour, Mode, ServerInfo, ServerNode
from streamops.tui.identity import NO_ID, Identity

A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)


def server(*nodes: tuple[str, ...]) -> ServerInfo:
    made = (
        ServerNode("here", Flavour.REDIS, (8, 0, 0), "master", ids, None, None, "", None) for ids in nodes
    )
    return ServerInfo(Mode.STANDALONE, 0, tuple(made))


@pytest.mark.parametrize(
    ("seen", "strange"),
    [
        pytest.param([server((A, NO_ID)), server((A, NO_ID))], [False, False], id="the same"),
        pytest.param([server((A, NO_ID)), server((B, A))], [False, False], id="failover"),
        pytest.param([server((A, NO_ID)), server((B, A)), server((C, B))], [False] * 3, id="two failovers"),
        pytest.param([server((A, NO_ID)), server((B, NO_ID))], [False, True], id="another"),
        pytest.param([server((A, NO_ID)), server((B, C))], [False, True], id="another that failed over"),
        pytest.param(
            [server((A, NO_ID)), server((B, NO_ID)), server((A, NO_ID))], [False, True, False], id="back"
        ),
        pytest.param(
            [server((A, NO_ID)), server((B, NO_ID)), server(())], [False, True, True], id="not told"
        ),
        pytest.param([server(()), server((A, NO_ID)), server((B, A))], [False] * 3, id="told later"),
        pytest.param([server((A,), (B,)), server((B,), (C,))], [False, False], id="a cluster that moved"),
        pytest.param([server((A,), (B,)), server((C,), (D,))], [False, True], id="another cluster"),
        pytest.param([server((NO_ID,)), server((NO_ID,))], [False, False], id="no IDs at all"),
    ],
)
def test_a_server_is_known_by_its_replication_ids(seen: list[ServerInfo], strange: list[bool]) -> None:
    identity = Identity()
    assert [identity.see(one) is not None for one in seen] == strange


def test_who_is_accepted_is_the_one_from_then_on() -> None:
    identity = Identity()
    identity.see(server((A, NO_ID)))
    stranger = identity.see(server((B, NO_ID)))
    assert stranger is not None
    assert (stranger.known, stranger.answers) == ((A,), (B,))
    identity.accept()
    assert identity.see(server((B, NO_ID))) is None
    assert identity.see(server((A, NO_ID))) is not None
