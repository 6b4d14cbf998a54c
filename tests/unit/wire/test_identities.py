"""Who answers: another epoch begins with another server, and only then."""

from streamops.model.streams import Flavour, ServerNode
from streamops.wire.stream_reader import Identities


def node(address: str, *ids: str) -> ServerNode:
    return ServerNode(address, Flavour.VALKEY, (9, 0, 0), "master", ids, None, None, "", None)


FIRST = node("a", "1" * 40, "0" * 40)
PROMOTED = node("a", "2" * 40, "1" * 40)
OTHER = node("b", "3" * 40, "0" * 40)


def epochs(*heard: tuple[ServerNode, ...]) -> list[int]:
    servers = Identities()
    return [servers.note(nodes) for nodes in heard]


def test_another_server_at_the_same_address_begins_an_era() -> None:
    assert epochs((FIRST,), (FIRST,), (PROMOTED,), (PROMOTED,), (FIRST,)) == [1, 1, 2, 2, 3]


def test_another_node_of_a_cluster_begins_an_era() -> None:
    assert epochs((FIRST, OTHER), (OTHER, FIRST), (PROMOTED, OTHER)) == [1, 1, 2]


def test_one_that_others_have_answered_for_is_another_when_it_comes_back() -> None:
    assert epochs((FIRST,), (OTHER,), (FIRST,)) == [1, 2, 3]


def test_one_that_did_not_answer_is_the_same_when_it_does() -> None:
    servers = Identities()
    servers.note((FIRST, OTHER))
    assert servers.note((FIRST,), {"b": "no answer"}) == 1
    assert servers.note((FIRST, OTHER)) == 1
    servers.note((FIRST,), {"b": "no answer"})
    assert servers.note((FIRST, node("b", "4" * 40))) == 2


def test_where_nobody_says_who_answers_nobody_can_tell() -> None:
    assert epochs((), (), (FIRST,), ()) == [0, 0, 1, 1]
