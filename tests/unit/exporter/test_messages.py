"""The words of notices."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.alerts import (
    LISTED,
    REDIS_DOWN,
    AlertSource,
    Condition,
    Notice,
    Origin,
    render_message,
)
from streamops.model.observation import FindingCode, Health
from streamops.resources.text import is_safe
from tests.support.exporter.found import condition
from tests.support.invented import minutes
from tests.support.strategies import names

ORIGIN = Origin("shop (redis://10.0.0.5:6379/0)", ("-c", "shop"))
STOPPED = AlertSource(FindingCode.STOPPED, "orders", "billing")


def notice(
    subject: AlertSource = STOPPED, level: Health = Health.CRITICAL, *, resolved: bool = False
) -> Notice:
    return Notice(condition(subject, level), level, minutes(3), resolved)


def test_a_finding_that_fires_says_all_there_is_to_know() -> None:
    found = Condition(STOPPED, Health.CRITICAL, "12 entries wait", "Check that its consumers run")
    message = render_message([Notice(found, Health.CRITICAL, minutes(3))], ORIGIN)
    assert message.title == "[FIRING:1] streamops shop (redis://10.0.0.5:6379/0): stopped orders/billing"
    assert message.level is Health.CRITICAL
    assert message.body == (
        "Server: shop (redis://10.0.0.5:6379/0)\n"
        "\n"
        "CRITICAL stopped orders/billing, for 3 min\n"
        "  12 entries wait\n"
        "  Check that its consumers run\n"
        "  Look: streamops groups show orders billing -c shop\n"
    )


def test_what_is_resolved_says_what_it_was_and_how_long() -> None:
    message = render_message([notice(resolved=True)], ORIGIN)
    assert message.title == "[RESOLVED:1] streamops shop (redis://10.0.0.5:6379/0): stopped orders/billing"
    assert message.level is Health.OK
    assert message.body.endswith("\nRESOLVED stopped orders/billing, after 3 min\n")


def test_several_are_counted_in_the_title_and_those_that_fire_come_first() -> None:
    behind = notice(AlertSource("behind", "orders", "mail"), Health.WARN, resolved=True)
    message = render_message([behind, notice(), notice(AlertSource(REDIS_DOWN))], ORIGIN)
    assert message.title == "[FIRING:2, RESOLVED:1] streamops shop (redis://10.0.0.5:6379/0)"
    assert "CRITICAL redis_down, for 3 min" in message.body
    assert message.body.index("redis_down") < message.body.index("RESOLVED behind")


def test_500_at_once_are_a_list_of_ten_and_a_count() -> None:
    crowd = [
        notice(AlertSource("behind", "orders", f"group-{number:03}"), Health.WARN) for number in range(500)
    ]
    message = render_message(crowd, ORIGIN)
    assert message.title.startswith("[FIRING:500]")
    assert message.body.count("WARN behind") == LISTED
    assert message.body.endswith("\n... and 490 more. Look: streamops status -c shop\n")


def test_the_command_fits_the_subject() -> None:
    commands = {
        STOPPED: "streamops groups show orders billing",
        AlertSource(FindingCode.DEAD_LETTERS, "orders:dlq"): "streamops streams show orders:dlq",
        AlertSource(REDIS_DOWN): "streamops status",
        AlertSource(FindingCode.STOPPED, "-x", "a b"): "streamops groups show -- -x 'a b'",
    }
    bodies = {subject: render_message([notice(subject)], Origin("x")).body for subject in commands}
    assert {subject: body.partition("Look: ")[2].strip() for subject, body in bodies.items()} == commands


@given(st.lists(st.tuples(names(), names(), names(), st.booleans()), min_size=1, max_size=40))
def test_a_message_is_bounded_and_safe_whatever_is_in_it(said: list[tuple[str, str, str, bool]]) -> None:
    notices = [
        Notice(
            Condition(AlertSource("behind", stream, group), Health.WARN, text * 200, text),
            Health.WARN,
            minutes(1),
            resolved,
        )
        for stream, group, text, resolved in said
    ]
    message = render_message(notices, Origin("\x1b[31mredis\n://x", ("-c", "\n")))
    assert all(map(is_safe, message.title))
    assert len(message.title) <= 200
    assert all(is_safe(character) for character in message.body if character != "\n")
    assert len(message.body) < LISTED * 2000
