"""Help: what it says of the row and the finding it was asked on."""

from streamops.model.observation import FindingCode
from streamops.monitor.rules import RULE_OF
from streamops.resources.groups import BASES
from streamops.tui.lines.explaining import finding_help, lag_help
from streamops.tui.rows.selection import Selection, SelectionKind
from streamops.tui.widgets.text_view import TextView
from tests.support.tui import sample
from tests.support.tui.driving import press, running, screen_text, shown
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

GROUP = Selection(sort=SelectionKind.GROUP, stream="payments", group="ledger")


def flat(lines: object) -> str:
    return " ".join("".join(cell.text for cell in line).strip() for line in lines)  # type: ignore[attr-defined]


def test_a_finding_is_explained_with_its_numbers_and_the_keys_that_mend_it() -> None:
    text = flat(finding_help((sample.DEAD_CONSUMER,), GROUP, 200, read_only=False))
    told = RULE_OF[FindingCode.DEAD_CONSUMER]
    for words in ("worker-7 has not asked for 41 min", told.means, told.cause, *told.look):
        assert words in text
    assert "C  claim: Claim its entries" in text
    assert "X  consumers rm (on the consumer, Enter): " in text


def test_where_nothing_may_be_changed_no_key_is_told() -> None:
    text = flat(finding_help((sample.DEAD_CONSUMER,), GROUP, 200, read_only=True))
    assert "C  claim" not in text
    assert "· streamops claim: Claim its entries" in text


def test_help_keeps_to_its_width() -> None:
    for width in [20, 76, 116]:
        lines = finding_help((sample.POISON, sample.STALLED), GROUP, width, read_only=False)
        assert max(sum(len(cell.text) for cell in line) for line in lines) <= max(width, 45)


def test_a_lag_that_is_not_known_says_why() -> None:
    view = sample.shop().streams[0].groups[0]
    text = flat(lag_help(view, 300))
    assert BASES[view.group.lag.basis] in text
    assert view.group.lag.reason in text


async def test_help_lists_the_keys_of_the_row_then_explains_it_and_read_only_shows_no_key_that_writes() -> (
    None
):
    for read_only in (False, True):
        app = app_for(shop_source(), read_only=read_only)
        async with running(app):
            await press(app, *"jj", "question_mark")
            await shown(app, "orders ▸ fulfilment")
            keys = screen_text(app)
            assert "Enter  open" in keys
            assert ("C  claim" in keys) is not read_only
            await press(app, "question_mark")
            await shown(app, "dead consumer")
            text = flat(app.frame.query_one("#main", TextView).lines)
            assert "orders ▸ fulfilment" in text
            assert RULE_OF[FindingCode.DEAD_CONSUMER].means.split(".")[0] in text
            assert "from XINFO GROUPS pending" in text
            assert "The lag here" in text
            assert ("plan: trim" in text) is not read_only
            assert ("C  claim" in text) is not read_only
            await press(app, "enter")
            await shown(app, "Enter  open")


async def test_help_lists_no_key_that_has_nothing_to_act_on() -> None:
    words = ("its trace", "its dead letters", "search payloads", "charts", "undo")
    app = app_for(shop_source())
    async with running(app):
        for keys, listed in (("home", (False, True, True, True, False)), ("w", (False,) * 5)):
            await press(app, *keys.split(), "question_mark")
            await shown(app, "Go to")
            assert tuple(word in screen_text(app) for word in words) == listed
            await press(app, "escape")


async def test_key_that_can_do_nothing_here_says_why() -> None:
    app = app_for(shop_source())
    async with running(app):
        await press(app, "v")
        await shown(app, "v does nothing here. Elsewhere: on an entry: decoded or raw")
        await press(app, "S")
        await shown(app, "S does nothing on this row. Elsewhere: scale on pool")
        for key, words in (
            ("a", "there is no entry under the cursor to trace"),
            ("j", ""),
            ("d", "no dead-letter queue of emails is known"),
            ("z", "undo: this console has changed nothing yet; z in the audit log (7)"),
            ("m", "m is not a key here; ? lists the keys"),
        ):
            await press(app, key)
            await shown(app, words)
            assert "/9" in screen_text(app), "what is said covers the counter"
        await press(app, *"5", "slash", *"nothing", "enter", "enter")
        await shown(app, "there is no row to open")
    app = app_for(shop_source(), read_only=True)
    async with running(app):
        await press(app, "C")
        await shown(app, "read-only: C (claim) changes nothing here")
