"""What a topic says, in words that show nothing secret."""

from collections.abc import Iterator

from msgspec.structs import fields

from streamops.model.topics import Topic


def shown_value(topic: Topic, field: str) -> str:
    """A topic's attribute in words; of headers the names, of a secret that there is one."""
    shown = {
        "url": topic.shown_url,
        "headers": ", ".join(name for name, _ in topic.headers) or "none",
        "secret": "not set" if topic.secret is None else "set",
        "retry": topic.retry.text,
        "weight": topic.priority,
        "stream": topic.key,
        "delay": f"{topic.delay.total_seconds():g} s",
        "time_to_run": f"{topic.time_to_run.total_seconds():g} s",
        "enabled": "yes" if topic.enabled else "no",
        "retry_empty": "yes" if topic.retry_empty else "no",
    }
    return shown[field] if field in shown else str(getattr(topic, field))


def described(topic: Topic, before: Topic | None) -> Iterator[str]:
    """What differs from a former topic, or else from the defaults, a line each."""
    for field in fields(Topic):
        if field.name == "name":
            continue
        then = getattr(before, field.name) if before else field.default
        if getattr(topic, field.name) != then:
            yield f"{field.name}: {shown_value(topic, field.name)}"
