from streamops.model.entries import EntryId
from streamops.tui import routes
from streamops.tui.goto import (
    WORDS,
    FindEntry,
    Nowhere,
    Quit,
    SaveView,
    ShowView,
    Switch,
    completions,
    parse_goal,
    text_of,
)
from tests.support import invented
from tests.support.tui import sample

SHOP = sample.observation(
    sample.stream_view(
        "orders",
        sample.group_view("orders", invented.group("billing")),
        sample.group_view("orders", invented.group("night shift")),
    ),
    sample.stream_view("orders west", sample.group_view("orders west", invented.group("billing"))),
    sample.stream_view("a:b:c"),
    sample.stream_view("view x"),
)


def test_line_that_is_typed_leads_to_its_place() -> None:
    for text, goal in [
        ("orders", routes.StreamRoute("orders")),
        ("orders billing", routes.GroupRoute("orders", "billing")),
        ("orders/billing", routes.GroupRoute("orders", "billing")),
        ("orders night shift", routes.GroupRoute("orders", "night shift")),
        ("orders west", routes.StreamRoute("orders west")),
        ("orders west billing", routes.GroupRoute("orders west", "billing")),
        ("orders billing worker-1", routes.PendingRoute("orders", "billing", "worker-1")),
        ("orders night shift worker 1", routes.PendingRoute("orders", "night shift", "worker 1")),
        ("orders billing pending", routes.PendingRoute("orders", "billing")),
        ("orders tail", routes.EntriesRoute("orders")),
        ("orders 1795-0", routes.EntryRoute("orders", EntryId(1795, 0))),
        ("a:b:c 1795-3", routes.EntryRoute("a:b:c", EntryId(1795, 3))),
        ("orders 1795", routes.EntryRoute("orders", EntryId(1795, 0))),
        ("view x", routes.StreamRoute("view x")),
        ("view y", ShowView("y")),
        ("view", ShowView()),
        ("views", ShowView()),
        ("save mine", SaveView("mine")),
        ("save ", Nowhere("save NAME: the name is missing")),
        ("ctx prod", Switch("prod")),
        ("quit", Quit()),
        ("night", routes.GroupRoute("orders", "night shift")),
        (
            "orders zzz",
            Nowhere("zzz is neither a group of orders nor an entry ID such as 1526919030474-0"),
        ),
        ("1795-0", Nowhere("no stream, group or screen matches 1795-0")),
    ]:
        assert parse_goal(text, SHOP) == goal


def test_an_id_alone_is_looked_for_where_one_stands() -> None:
    assert parse_goal("1795-0", SHOP, "orders") == routes.EntryRoute("orders", EntryId(1795, 0))
    at = SHOP.streams[0].stream.last_id
    assert at is not None
    assert parse_goal(str(at), SHOP, "orders") == FindEntry(at, ("orders", "orders west", "a:b:c", "view x"))
    assert parse_goal("1795", SHOP, "orders") == Nowhere("no stream, group or screen matches 1795")


def test_the_way_back_from_a_place_to_what_is_typed() -> None:
    cases: list[routes.Route] = [
        routes.StatusRoute(),
        routes.StreamsRoute(),
        routes.AuditRoute(),
        routes.StreamRoute("orders"),
        routes.GroupRoute("orders", "night shift"),
        routes.PendingRoute("orders", "billing"),
        routes.PendingRoute("orders", "billing", "worker 1"),
        routes.EntriesRoute("a:b:c"),
        routes.EntryRoute("orders", EntryId(1795, 0)),
    ]
    for place in cases:
        text = text_of(place)
        assert text is not None
        assert parse_goal(text, SHOP) == place


def test_a_search_cannot_be_typed() -> None:
    assert text_of(routes.SearchRoute("orders", "x")) is None


def test_completions_are_what_can_be_typed_and_words_come_first() -> None:
    hostile = sample.observation(sample.stream_view("a\x1bb"), sample.stream_view("fine"))
    names = completions(hostile, ["mine"], ["prod"])
    assert names[: len(WORDS)] == list(WORDS)
    assert names[len(WORDS) :] == ["fine", "view mine", "ctx prod"]
