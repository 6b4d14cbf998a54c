"""Everything that an operator does is reached from the row it concerns, filled in, on the smallest screen too."""

import pytest

from streamops.tui.line_view import LineView
from streamops.tui.screens.form import FormScreen
from streamops.tui.subjects import VERBS
from tests.support.invented import entry_id, minutes
from tests.support.tui.driving import NARROW, list_of, press, running, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

GROUP = [*"jjjj"]
CONSUMER = [*GROUP, "enter", "end"]
PENDING = [*GROUP, "enter", "l"]
STREAM = ["2", *"jjj"]
ENTRIES = [*STREAM, "t"]
QUEUES = ["4"]
LETTERS = ["4", "enter"]
DELAYED = ["colon", *"delayed", "enter"]
TOPICS = ["colon", *"topics", "enter"]
WORKERS = ["5"]
FULFILMENT = {"stream": "orders", "group": "fulfilment"}
PENDING_ID = str(entry_id(minutes(42)))
LETTER = {"queue": "payments:dlq", "ids": str(entry_id(minutes(2)))}
ROWS: dict[str, tuple[list[str], str, str, dict[str, str]]] = {
    "claim a group's": (GROUP, "C", "claim", FULFILMENT),
    "claim a consumer's": (CONSUMER, "C", "claim", {**FULFILMENT, "from": "worker-7"}),
    "claim an entry": (PENDING, "C", "claim", {**FULFILMENT, "from": "worker-7", "ids": PENDING_ID}),
    "acknowledge": (PENDING, "A", "ack", {**FULFILMENT, "ids": PENDING_ID}),
    "give back": (PENDING, "N", "nack", {**FULFILMENT, "from": "worker-7", "ids": PENDING_ID}),
    "delete what is pending": (PENDING, "D", "streams.rm-entry", {"stream": "orders", "ids": PENDING_ID}),
    "delete an entry": (ENTRIES, "D", "streams.rm-entry", {"stream": "orders"}),
    "trim from a stream": (STREAM, "T", "trim", {"stream": "orders"}),
    "trim from a group": (GROUP, "T", "trim", {"stream": "orders"}),
    "trim from an entry": (ENTRIES, "T", "trim", {"stream": "orders"}),
    "rewind": (GROUP, "W", "groups.rewind", FULFILMENT),
    "rewind from a consumer": (CONSUMER, "W", "groups.rewind", FULFILMENT),
    "destroy": (GROUP, "X", "groups.destroy", FULFILMENT),
    "hand over and remove": (CONSUMER, "X", "consumers.rm", {**FULFILMENT, "consumer": "worker-7", "to": ""}),
    "replay a queue": (QUEUES, "R", "replay", {"queue": "payments:dlq", "ids": ""}),
    "replay a letter": (LETTERS, "R", "replay", LETTER),
    "edit and replay": (LETTERS, "E", "edit and replay", LETTER),
    "edit and replay, looking at it": ([*LETTERS, "enter"], "E", "edit and replay", LETTER),
    "purge": (QUEUES, "D", "dlq.purge", {"queue": "payments:dlq", "ids": ""}),
    "delete a letter": (LETTERS, "D", "dlq.purge", LETTER),
    "run a queue now": (DELAYED, "R", "delayed.run-now", {"stream": "orders", "all": "yes"}),
    "run a message now": (
        [*DELAYED, "enter"],
        "R",
        "delayed.run-now",
        {"ids": "remind-A-10031", "all": "no"},
    ),
    "cancel a message": ([*DELAYED, "enter"], "D", "delayed.cancel", {"ids": "remind-A-10031", "all": "no"}),
    "switch a topic on": (TOPICS, "P", "topics.on", {"name": "paid"}),
    "switch a topic off": ([*TOPICS, "down"], "P", "topics.off", {"name": "remind"}),
    "remove a topic": (TOPICS, "X", "topics.rm", {"name": "paid"}),
    "pause a pool": (WORKERS, "P", "pause", {"pool": "billing"}),
    "resume a pool": ([*WORKERS, "end"], "P", "resume", {"pool": "mail"}),
    "scale a pool": (WORKERS, "S", "scale.set", {"pool": "billing"}),
}


@pytest.mark.parametrize("name", list(ROWS))
async def test_from_its_row_with_what_the_row_says(name: str) -> None:
    way, key, title, filled = ROWS[name]
    app = app_for(shop_source())
    async with running(app, NARROW):
        for step in ("3", *way, key):
            # A list that is read on demand is about all of it until its rows are there.
            if step in {"down", "end", key} and app.frame.query(LineView):
                await until(app, lambda: bool(list_of(app).rows))
            if step == key:
                await until(app, lambda: app.frame.subject() is not None)
            await press(app, step)
        frame = app.frame
        assert isinstance(frame, FormScreen)
        assert frame.title_word == title
        texts = {row.question.label: row.text for row in frame._rows}
        assert {label: texts[label] for label in filled} == filled


def test_every_key_is_tried() -> None:
    operations = {title for _, _, title, _ in ROWS.values()} | {"replay"}
    others = {verb.operation for verb in VERBS} - operations
    assert all(name.startswith("autoscale.") for name in others)
