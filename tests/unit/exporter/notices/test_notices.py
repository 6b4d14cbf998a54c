"""The words of notices."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.exporter.notices.notifying import Batch, Notice, NoticeKind
from streamops.exporter.notices.sighting import REDIS_DOWN, Condition, Subject, see_down
from streamops.exporter.notices.wording import LISTED, Origin, look_command, render_message, render_test
from streamops.model.observation import FindingCode, Health
from streamops.present.text import is_safe
from tests.support.exporter.found import condition
from tests.support.invented import minutes
from tests.support.strategies import names

ORIGIN = Origin("shop (redis://10.0.0.5:6379/0)", ("-c", "shop"))
STOPPED = Subject(FindingCode.STOPPED, "orders", "billing")


def notice(
    subject: Subject = STOPPED,
    level: Health = Health.CRITICAL,
    kind: NoticeKind = NoticeKind.FIRING,
    peak: Health | None = None,
) -> Notice:
    return Notice(kind, condition(subject, level), peak or level, minutes(3))


def test_one_that_fires_says_all_there_is_to_know() -> None:
    found = Condition(STOPPED, Health.CRITICAL, "12 entries wait", "Check that its consumers run")
    message = render_message(
        Batch((Notice(NoticeKind.FIRING, found, Health.CRITICAL, minutes(3)),), 1), ORIGIN
    )
    assert message is not None
    assert message.title == "[FIRING:1] streamops shop (redis://10.0.0.5:6379/0): stopped orders/billing"
    assert message.level is Health.CRITICAL
    assert message.body == (
        "Server: shop (redis://10.0.0.5:6379/0)\n"
        "\n"
        "CRITICAL stopped: stream orders, group billing, for 3 min\n"
        "  12 entries wait\n"
        "  Check that its consumers run\n"
        "  Look: streamops groups info orders billing -c shop\n"
    )


def test_what_is_resolved_says_what_it_was_and_how_long() -> None:
    message = render_message(Batch((notice(kind=NoticeKind.RESOLVED),), 0), ORIGIN)
    assert message is not None
    assert message.title == "[RESOLVED:1] streamops shop (redis://10.0.0.5:6379/0): stopped orders/billing"
    assert message.level is Health.OK
    assert (
        "RESOLVED stopped: stream orders, group billing, after 3 min\n  It was: some text\n" in message.body
    )


def test_several_are_counted_in_the_title_and_those_that_fire_come_first() -> None:
    others = [Subject("behind", "orders", "mail"), Subject(REDIS_DOWN)]
    batch = Batch(
        (
            notice(),
            notice(others[1], kind=NoticeKind.REPEATED),
            notice(others[0], Health.WARN, NoticeKind.RESOLVED),
        ),
        7,
    )
    message = render_message(batch, ORIGIN)
    assert message is not None
    assert message.title == "[FIRING:2, RESOLVED:1] streamops shop (redis://10.0.0.5:6379/0)"
    assert "CRITICAL redis_down: the server, still, for 3 min" in message.body
    assert message.body.index("redis_down") < message.body.index("RESOLVED behind")
    assert message.body.endswith("7 in all have been told and not resolved.\n")


def test_500_at_once_are_a_list_of_ten_and_a_count() -> None:
    crowd = [notice(Subject("behind", "orders", f"group-{number:03}"), Health.WARN) for number in range(490)]
    crowd += [notice(Subject("stopped", "orders", f"group-{number:03}")) for number in range(10)]
    message = render_message(Batch(tuple(crowd), 500), ORIGIN)
    assert message is not None
    assert message.title.startswith("[FIRING:500]")
    assert message.body.count("Look: ") == LISTED
    assert "... and 490 more: 480 behind, 10 stopped. See streamops status -c shop" in message.body


def test_an_address_for_what_is_critical_is_told_of_nothing_else_but_of_the_end_of_that() -> None:
    mild = notice(Subject("behind", "orders", "mail"), Health.WARN)
    assert render_message(Batch((mild,), 1), ORIGIN, Health.CRITICAL) is None
    over = notice(level=Health.WARN, kind=NoticeKind.RESOLVED, peak=Health.CRITICAL)
    message = render_message(Batch((mild, over), 1), ORIGIN, Health.CRITICAL)
    assert message is not None
    assert message.title.startswith("[RESOLVED:1]")
    assert "behind" not in message.body


def test_the_command_fits_the_subject() -> None:
    commands = {
        STOPPED: "streamops groups info orders billing",
        Subject(FindingCode.DEAD_LETTERS, "orders:dlq"): "streamops dlq show orders:dlq",
        Subject(FindingCode.OOM): "streamops doctor",
        Subject(REDIS_DOWN): "streamops status",
        Subject(FindingCode.STOPPED, "-x", "a b"): "streamops groups info -- -x 'a b'",
    }
    assert {subject: look_command(subject, ()) for subject in commands} == commands


def test_a_test_says_that_it_is_one() -> None:
    message = render_test(ORIGIN)
    assert message.title == "[TEST] streamops shop (redis://10.0.0.5:6379/0)"
    assert "nothing has been found" in message.body


def test_why_redis_is_down_is_told() -> None:
    (down,) = see_down("connection refused").found.values()
    message = render_message(Batch((Notice(NoticeKind.FIRING, down, down.level, minutes(1)),), 1), ORIGIN)
    assert message is not None
    assert "Redis does not answer: connection refused" in message.body


@given(st.lists(st.tuples(names(), names(), names(), st.sampled_from(NoticeKind)), min_size=1, max_size=40))
def test_a_message_is_bounded_and_safe_whatever_is_in_it(
    told: list[tuple[str, str, str, NoticeKind]],
) -> None:
    notices = [
        Notice(
            kind,
            Condition(Subject("behind", stream, group), Health.WARN, text * 200, text),
            Health.WARN,
            minutes(1),
        )
        for stream, group, text, kind in told
    ]
    message = render_message(Batch(tuple(notices), len(told)), Origin("\x1b[31mredis\n://x", ("-c", "\n")))
    assert message is not None
    assert all(map(is_safe, message.title))
    assert len(message.title) <= 200
    assert all(is_safe(character) for character in message.body if character != "\n")
    assert len(message.body) < 2 * LISTED * 2000
