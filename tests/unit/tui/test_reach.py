"""Everything that an operator does is reached from the row it concerns, filled in, on the smallest screen too."""

import pytest

from streamops.operations.registry import OPERATIONS, command_words
from streamops.tui.acting.questions import questions_for
from streamops.tui.rows.selection import VERBS, verb_of
from streamops.tui.screens.form import FormScreen
from streamops.tui.widgets.line_view import LineView
from tests.support.invented import entry_id, minutes
from tests.support.tui.driving import NARROW, list_of, press, running, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

FULFILMENT = {"stream": "orders", "group": "fulfilment"}
OWNED = {**FULFILMENT, "from": "worker-7"}
PENDING_ID = {"ids": str(entry_id(minutes(42)))}
DEAD_LETTER = {"queue": "payments:dlq", "ids": str(entry_id(minutes(2)))}
MESSAGE = {"ids": "remind-A-10031", "all": "no"}
ORDERS = {"stream": "orders"}
DELAYED = ["colon", *"delayed", "enter"]
TOPICS = ["colon", *"topics", "enter"]
ROWS: dict[str, tuple[list[str], dict[str, tuple[str, dict[str, str]]]]] = {
    "group": ([*"jj"], {
        "C": ("claim", FULFILMENT), "T": ("trim", ORDERS), "W": ("groups.rewind", FULFILMENT),
        "X": ("groups.destroy", FULFILMENT),
    }),
    "consumer": ([*"jj", "enter", "end"], {
        "C": ("claim", OWNED), "W": ("groups.rewind", FULFILMENT),
        "X": ("consumers.rm", {**FULFILMENT, "consumer": "worker-7", "to": ""}),
    }),
    "pending entry": ([*"jj", "enter", "l"], {
        "C": ("claim", OWNED | PENDING_ID), "A": ("ack", FULFILMENT | PENDING_ID), "N": ("nack", OWNED | PENDING_ID),
        "D": ("streams.rm-entry", ORDERS | PENDING_ID), "X": ("dlq.add", FULFILMENT | PENDING_ID),
    }),
    "entry": (["2", *"jjj", "t"], {"D": ("streams.rm-entry", ORDERS), "T": ("trim", ORDERS)}),
    "stream": (["2", *"jjj"], {"T": ("trim", ORDERS)}),
    "queue": (["4"], {
        "R": ("replay", {"queue": "payments:dlq", "ids": ""}), "D": ("dlq.purge", {"queue": "payments:dlq", "ids": ""}),
    }),
    "letters": (["4", "enter"], {
        "R": ("replay", DEAD_LETTER), "E": ("edit and replay", DEAD_LETTER), "D": ("dlq.purge", DEAD_LETTER),
    }),
    "letter": (["4", "enter", "enter"], {"E": ("edit and replay", DEAD_LETTER)}),
    "delayed queue": (DELAYED, {"R": ("delayed.run-now", {"stream": "orders", "before": "0s"})}),
    "delayed message": ([*DELAYED, "enter"], {"R": ("delayed.run-now", MESSAGE), "D": ("delayed.cancel", MESSAGE)}),
    "topic": (TOPICS, {"P": ("topics.on", {"name": "paid"}), "X": ("topics.rm", {"name": "paid"})}),
    "topic that is on": ([*TOPICS, "down"], {"P": ("topics.off", {"name": "remind"})}),
    "pool": (["5"], {"P": ("pause", {"pool": "billing"}), "S": ("scale.set", {"pool": "billing"})}),
    "pool that is paused": (["5", "end"], {"P": ("resume", {"pool": "mail"})}),
}  # fmt: skip


WALKS = {
    "streams": ["group", "consumer", "pending entry", "entry", "stream"],
    "letters": ["queue", "letters", "letter"],
    "beside": [name for name in ROWS if name.startswith(("delayed", "topic", "pool"))],
}


@pytest.mark.parametrize("walk", WALKS.values(), ids=WALKS)
async def test_capital_opens_its_form_filled_in_from_the_row(walk: list[str]) -> None:
    app = app_for(shop_source())
    async with running(app, NARROW):
        for way, forms in (ROWS[name] for name in walk):
            for step in ("3", "home", *way):
                if step in {"down", "end", "enter"} and app.frame.query(LineView):
                    await until(app, lambda: bool(list_of(app).rows))
                await press(app, step)
            # A list that is read on demand is about all of it until its rows are there.
            if app.frame.query(LineView):
                await until(app, lambda: bool(list_of(app).rows))
            await until(app, lambda: app.frame.selection() is not None)
            selection = app.frame.selection()
            for key, (title, filled) in forms.items():
                assert app.check_action("act", (key,))
                verb = verb_of(key, selection)
                assert verb is not None
                assert ("edit and replay" if verb.edits else verb.operation) == title
                questions = questions_for(OPERATIONS[verb.operation].intent, selection, {}, long=False)
                texts = {question.label: question.text for question in questions}
                assert {label: texts[label] for label in filled} == filled
        await press(app, key)
        assert isinstance(app.frame, FormScreen)
        assert app.frame.title_word == (title if title not in OPERATIONS else command_words(title))


def test_every_verb_has_its_row() -> None:
    assert sorted(name for walk in WALKS.values() for name in walk) == sorted(ROWS)
    operations = {title for _, forms in ROWS.values() for title, _ in forms.values()}
    others = {verb.operation for verb in VERBS} - operations
    assert all(name.startswith("autoscale.") for name in others)
