"""Counters of topics, from real requests and calls to Prometheus's text format."""

from datetime import timedelta

from prometheus_client.parser import text_string_to_metric_families

from streamops.model.topics import Topic
from streamops.runtime.metrics import render
from streamops.webhooks.metrics import FAMILIES, TopicCollector, TopicCounters
from tests.support.eventually import eventually
from tests.support.servers import RunningServer
from tests.support.webhooks.receiver import Receiver
from tests.support.webhooks.service import SOON
from tests.support.webhooks.serving import serving, site


def samples(counters: TopicCounters) -> dict[tuple[str, ...], float]:
    """Every sample by its name and labels' values, without its prefix."""
    text = render(TopicCollector(lambda: counters.values)).decode()
    return {
        (
            sample.name.removeprefix("streamops_webhook_"),
            sample.labels["topic"],
            *(value for name, value in sample.labels.items() if name != "topic"),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("streamops_webhook_")
    }


async def test_what_becomes_of_messages_is_counted_by_topic(
    server: RunningServer, receiver: Receiver
) -> None:
    counters = TopicCounters()
    failing = receiver.topic("/answer", name="failing", retry=SOON, max_attempts=3)
    later = Topic(name="later", url="http://h", delay=timedelta(hours=1))
    receiver.status = 500
    async with serving(site(server, failing, later), counters=counters) as served:
        await served.post("failing/messages/m-1")
        await served.post("later/messages/m-2")
        for status, method, path in (
            (409, "POST", "later/messages/m-2"),
            (400, "POST", "later/messages?at=soon"),
            (404, "POST", "none/messages"),
            (200, "DELETE", "later/messages/m-2"),
            (404, "GET", "later/messages/m-2"),
        ):
            async with served.session.request(method, f"/topics/{path}") as response:
                assert response.status == status
        await eventually(lambda: ("dead_letters_total", "failing", "max-deliveries") in samples(counters))
    found = samples(counters)
    buckets = {name: value for name, value in found.items() if name[0] == "call_duration_seconds_bucket"}
    assert {name: value for name, value in found.items() if name not in buckets} == {
        ("messages_accepted_total", "failing"): 1,
        ("messages_accepted_total", "later"): 1,
        ("messages_refused_total", "later", "409"): 1,
        ("messages_refused_total", "later", "400"): 1,
        ("messages_refused_total", "", "404"): 1,
        ("messages_cancelled_total", "later"): 1,
        ("calls_total", "failing", "failed"): 3,
        ("retries_total", "failing"): 2,
        ("dead_letters_total", "failing", "max-deliveries"): 1,
        ("call_duration_seconds_count", "failing"): 3,
        ("call_duration_seconds_sum", "failing"): found["call_duration_seconds_sum", "failing"],
    }
    assert 0 < found["call_duration_seconds_sum", "failing"] < 10
    assert buckets["call_duration_seconds_bucket", "failing", "+Inf"] == 3
    assert [*buckets.values()] == sorted(buckets.values())
    assert {name[0] for name in found} >= {f"{name}_total" for name, _, _ in FAMILIES}
