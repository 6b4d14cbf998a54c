"""Every command on a real server: what it prints is what is there."""

from tests.support.cli.running import Cli
from tests.support.deployments import RunningCluster


def test_a_cluster_is_seen_whole(cluster: RunningCluster, cli: Cli) -> None:
    for number in range(9):
        cluster.node_of(f"orders:{number}").client.xadd(f"orders:{number}", {"n": str(number)})
    host = cluster.url.removeprefix("redis://").partition("/")[0]
    result = cli("streams", "ls", "--url", f"redis+cluster://{host}", "-o", "csv", "--fields", "stream")
    assert result.code == 0
    assert result.out.split() == ["stream", *(f"orders:{number}" for number in range(9))]
    assert cli("doctor", "--url", f"redis+cluster://{host}").code == 0
