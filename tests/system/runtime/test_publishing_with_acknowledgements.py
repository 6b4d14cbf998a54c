"""Messages that are added in the same step as their entry is acknowledged, in a cluster."""

from streamops.runtime import Entry, Streamops
from tests.support.deployments import RunningCluster
from tests.support.runtime.working import until, working
from tests.support.streams import fields_of


async def test_streams_of_one_hash_tag_are_published_to_and_others_refused_with_what_to_do(
    cluster: RunningCluster,
) -> None:
    app, node = Streamops(cluster.options), cluster.node_of("{shop}:orders")

    @app.handler("{shop}:orders", group="g", start="all", retry=None)
    async def handle(n: str, entry: Entry) -> None:
        entry.publish("{shop}:mails", {"n": n})
        if n == "2":
            entry.publish("mails", {"n": n})

    for n in ("1", "2"):
        node.command("XADD", "{shop}:orders", "*", "n", n)
    async with working(app):
        await until(lambda: fields_of(node, "{shop}:orders:dlq") and fields_of(node, "{shop}:mails"))
    assert fields_of(node, "{shop}:mails") == [{b"n": b"1"}]
    (dead_letter,) = fields_of(node, "{shop}:orders:dlq")
    assert b"mails is in another hash slot than {shop}:orders" in dead_letter[b"_so_error"]
