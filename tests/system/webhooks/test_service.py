"""Messages from the intake to the receiver and beyond, on real servers."""

from datetime import timedelta

from streamops.webhooks import registry
from tests.support.deployments import RunningCluster
from tests.support.eventually import eventually
from tests.support.servers import RunningServer, StartServer
from tests.support.webhooks.receiver import Receiver
from tests.support.webhooks.service import LETTERS, SOON
from tests.support.webhooks.serving import serving, site


async def test_a_topic_on_a_cluster_is_called_tried_again_and_buried(
    cluster: RunningCluster, receiver: Receiver
) -> None:
    topic = receiver.topic(delay=timedelta(milliseconds=20), retry=SOON, max_attempts=2)
    receiver.status = 500
    async with serving(registry.Site("", cluster.options, (topic,))) as served:
        await served.post("remind/messages/m-1")
        await eventually(lambda: len(receiver.seen) == 2)
        node = cluster.node_of(LETTERS)
        await eventually(lambda: bool(node.command("EXISTS", LETTERS)))


async def test_c6_a_server_that_comes_back_is_served_again(
    server: RunningServer, start_server: StartServer, receiver: Receiver
) -> None:
    """The other one's topics are called all the while."""
    other = start_server()
    topics = receiver.topic(), receiver.topic("/other", name="other")
    sites = site(server, topics[0]), site(other, topics[1], name="other")
    async with serving(*sites) as served:
        await served.post("other/messages")
        await eventually(lambda: len(receiver.seen) == 1)
        other.pause()
        async with served.session.post("/topics/other/messages", data=b"x") as response:
            assert (response.status, response.headers["Retry-After"]) == (503, "2")
        await served.post("remind/messages")
        await eventually(lambda: len(receiver.seen) == 2)
        other.resume()
        await served.post_again("other/messages")
        await eventually(lambda: sum(seen.path == "/other" for seen in receiver.seen) >= 2)
