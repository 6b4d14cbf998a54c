from streamops.model.streams import Flavour, Mode, ServerInfo, ServerNode
from streamops.tui.polling.live import NO_ID, ServerIdentity

A, B, C, D = ("a" * 40, "b" * 40, "c" * 40, "d" * 40)


def server(*nodes: tuple[str, ...]) -> ServerInfo:
    made = (
        ServerNode("here", Flavour.REDIS, (8, 0, 0), "master", ids, None, None, "", None) for ids in nodes
    )
    return ServerInfo(Mode.STANDALONE, 0, tuple(made))


def test_a_server_is_known_by_its_replication_ids() -> None:
    for seen, strange in [
        ([server((A, NO_ID)), server((A, NO_ID))], [False, False]),
        ([server((A, NO_ID)), server((B, A))], [False, False]),
        ([server((A, NO_ID)), server((B, A)), server((C, B))], [False] * 3),
        ([server((A, NO_ID)), server((B, NO_ID))], [False, True]),
        ([server((A, NO_ID)), server((B, C))], [False, True]),
        ([server((A, NO_ID)), server((B, NO_ID)), server((A, NO_ID))], [False, True, False]),
        ([server((A, NO_ID)), server((B, NO_ID)), server(())], [False, True, True]),
        ([server(()), server((A, NO_ID)), server((B, A))], [False] * 3),
        ([server((A,), (B,)), server((B,), (C,))], [False, False]),
        ([server((A,), (B,)), server((C,), (D,))], [False, True]),
        ([server((NO_ID,)), server((NO_ID,))], [False, False]),
    ]:
        identity = ServerIdentity()
        assert [identity.see(one) is not None for one in seen] == strange


def test_who_is_accepted_is_the_one_from_then_on() -> None:
    identity = ServerIdentity()
    identity.see(server((A, NO_ID)))
    mismatch = identity.see(server((B, NO_ID)))
    assert mismatch is not None
    assert (mismatch.known, mismatch.answers) == ((A,), (B,))
    identity.accept()
    assert identity.see(server((B, NO_ID))) is None
    assert identity.see(server((A, NO_ID))) is not None
