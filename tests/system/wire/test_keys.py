"""What a stream is for, by its name, and the keys beside it."""

from streamops.wire.keys import (
    slot_of,
)
from tests.support.deployments import RunningCluster


def test_slots_are_the_servers_own(cluster: RunningCluster) -> None:
    for key in ("orders", "{orders}:dlq", "a}b", "{}x", "\udcff{\udcfe}", "", "{"):
        raw = key.encode("utf-8", "surrogateescape")
        assert cluster.nodes[0].command("CLUSTER", "KEYSLOT", raw) == slot_of(key)
