"""Dead letters, delayed messages, topics, workers and traces that want to be more than text, on every screen of them."""

import pytest
from msgspec.structs import replace

from streamops.model.dead_letters import read_dead_letter
from streamops.model.delayed import DelayedBody, DelayedMessage
from streamops.model.entries import StreamEntry
from streamops.model.pools import Order, Pool, WorkerState
from streamops.model.streams import ReadError, StreamRole
from streamops.model.topics import Topic
from streamops.monitor.entry_trace import EntryTrace, TraceEvent, TraceKind
from streamops.monitor.pools import ServerWorkers
from streamops.monitor.topics import TopicFailures, TopicView
from streamops.tui import routes
from tests.support.invented import NOW, entry_id, minutes
from tests.support.tui import hostile, sample
from tests.support.tui.driving import NARROW, running
from tests.support.tui.hostile import EVERYTHING, press_checked
from tests.support.tui.invented_beside import heart
from tests.support.tui.source import InventedSource, app_for

LETTERS = [
    [
        "4",
        "f",
        "f",
        "enter",
        "space",
        "asterisk",
        "asterisk",
        "down",
        "question_mark",
        "question_mark",
        "escape",
        "u",
    ],
    ["enter", "v", "end", "a", "escape", "escape"],
    ["E", "down", "x", "end", "enter", "escape", "escape", "R", "enter", "escape", "escape"],
    ["equals_sign", "x", "escape", "slash", "x", "escape", "y", "c"],
]
DELAYED = [["enter", "down", "space", "R", "enter", "escape", "escape", "u", "enter", "v", "end", "y"]]
TOPICS = [["down", "P", "enter", "escape", "escape", "enter", "end", "l", "escape", "d", "y"]]
WORKERS = [
    ["5", "P", "enter", "escape", "escape", "enter", "question_mark", "question_mark", "escape", "enter", "y"]
]


def source(text: str) -> InventedSource:
    """A source that says such things beside a stream that is named such."""
    made = hostile.source(text)
    raw = text.encode("utf-8", "surrogatepass")
    queue = f"q{text}"
    made.observation = sample.observation(
        *(made.observation.streams if not isinstance(made.observation, Exception) else ()),
        sample.stream_view(queue, length=9, role=StreamRole.DEAD_LETTERS, source=f"s{text}"),
    )
    about = ("origin", "group", "consumer", "reason", "error")
    letters = [
        read_dead_letter(
            StreamEntry(
                entry_id(minutes(40 - number)),
                (
                    (value, value), (b"plain", value * 2),
                    *((f"_so_{name}".encode(), raw) for name in about), (b"_so_origin_id", b"5-1"),
                ),
            ),
            queue,
            f"s{text}",
        )
        for number, value in enumerate(hostile.BYTES)
    ]  # fmt: skip
    body = DelayedBody(f"d{text}", ((raw, raw),), f"g{text}", 2, f"o{text}")
    beside = made.beside
    beside.letters = tuple(letters)
    beside.messages = (
        DelayedMessage(f"i{text}", NOW, body, "d"),
        DelayedMessage(f"j{text}", None, None, "d", f"problem {text}", raw),
    )
    beside.gaps = (ReadError(f"gap {text}", f"s{text}", f"g{text}", f"p{text}"),)
    beside.topics = (
        TopicView(
            f"t{text}", Topic(name=f"t{text}", url=f"https://x/{text}", stream=f"s{text}", group=f"g{text}")
        ),
        TopicView(f"u{text}", None, f"problem {text}"),
    )
    beside.failures = TopicFailures(beside.letters[:3], beside.messages[:1], more_waiting=True)
    worker = replace(
        heart("1", f"p{text}", WorkerState.RUNNING, 1), id=f"w{text}", host=f"h{text}", app=f"a{text}",
        consumers=((f"s{text}", f"g{text}", f"c{text}"),),
    )  # fmt: skip
    pool = Pool(
        name=f"p{text}", mode="paused", updated_by=f"by{text}", updated_at=NOW, reason=f"r{text}",
        order=Order(workers=3, by=f"by{text}"),
    )  # fmt: skip
    beside.crowd = ServerWorkers((worker,), NOW, (pool,))
    events = tuple(TraceEvent(kind=kind, text=f"x{text}", at=NOW) for kind in TraceKind)
    beside.trace = EntryTrace(stream=f"s{text}", id=entry_id(), events=events, unknown=(f"u{text}",), now=NOW)
    return made


pytestmark = pytest.mark.usefixtures("own_directories")


@pytest.mark.parametrize(
    ("place", "walk"),
    [
        (None, LETTERS),
        (routes.DelayedQueuesRoute(), DELAYED),
        (routes.TopicsRoute(), TOPICS),
        (None, WORKERS),
        (
            routes.TraceRoute(f"s{EVERYTHING}", entry_id()),
            [["down", "end", "question_mark", "question_mark"]],
        ),
    ],
    ids=["dead letters", "delayed", "topics", "workers", "trace"],
)
async def test_hostile_text_is_only_text_beside_streams(
    place: routes.Route | None, walk: list[list[str]]
) -> None:
    app = app_for(source(EVERYTHING))
    async with running(app, NARROW):
        if place is not None:
            app.go(place)
        for keys in walk:
            await press_checked(app, keys)
        assert not app._exit
