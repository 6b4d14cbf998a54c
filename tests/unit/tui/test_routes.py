import shlex

import click

from streamops.main.program import PROGRAM, ROOT
from streamops.model.entries import EntryId
from streamops.tui import routes
from streamops.tui.goto import Nowhere, Quit, Switch, parse_goal
from streamops.tui.routes import Route, command, short_id
from streamops.tui.source import ContextInfo
from tests.support.tui import sample
from tests.support.tui.source import PROD


def test_a_place_has_its_crumbs_and_its_command() -> None:
    cases: list[tuple[routes.Route, tuple[str, ...], str]] = [
        (routes.StatusRoute(), (), "status"),
        (routes.StreamsRoute(), ("streams",), "streams ls"),
        (routes.StreamRoute("orders"), ("orders",), "streams show orders"),
        (routes.GroupRoute("orders", "billing"), ("orders", "billing"), "groups show orders billing"),
        (routes.PendingRoute("o", "g"), ("o", "g", "pending"), "pending ls o g"),
        (routes.PendingRoute("o", "g", "w 1"), ("o", "g", "w 1"), "pending ls '--consumer=w 1' o g"),
        (routes.EntriesRoute("orders"), ("orders", "tail"), "streams tail -n 100 orders"),
        (
            routes.EntryRoute("o", EntryId(1795000000000, 0)),
            ("o", "1795…-0"),
            "streams search --from-id=1795000000000-0 --to-id=1795000000000-0 -o json o",
        ),
        (routes.ContextsRoute(), ("contexts",), "ctx ls"),
        (routes.DeadLettersRoute(), ("dead letters",), "dlq ls"),
        (routes.DeadLetterEntriesRoute("o:dlq"), ("dead letters", "o:dlq"), "dlq ls o:dlq"),
        (
            routes.DeadLetterEntriesRoute("o:dlq", "reason == `1`"),
            ("dead letters", "o:dlq"),
            "dlq ls '--where=reason == `1`' o:dlq",
        ),
        (
            routes.DeadLetterRoute("o:dlq", EntryId(1795000000000, 0)),
            ("dead letters", "o:dlq", "1795…-0"),
            "dlq show o:dlq 1795000000000-0",
        ),
        (routes.DelayedQueuesRoute(), ("delayed",), "delayed ls"),
        (routes.DelayedRoute("o"), ("delayed", "o"), "delayed ls o"),
        (routes.DelayedMessageRoute("o", "-x"), ("delayed", "o", "-x"), "delayed show -- o -x"),
        (routes.TopicsRoute(), ("topics",), "webhooks ls"),
        (routes.TopicRoute("remind"), ("topics", "remind"), "webhooks show remind"),
        (routes.WorkersRoute(), ("workers",), "workers ls"),
        (routes.WorkerRoute("so-1", "billing"), ("workers", "so-1"), "workers ls --pool=billing"),
        (routes.TraceRoute("o", EntryId(5, 1)), ("o", "5-1", "trace"), "entries trace o 5-1"),
        (routes.OverviewRoute(), ("overview",), "status"),
        (routes.AlertsRoute(), ("alerts",), "alerts ls"),
        (routes.ChartsRoute("o", "g"), ("o", "g", "charts"), "groups show o g"),
        (routes.StreamRoute("-x"), ("-x",), "streams show -- -x"),
        (routes.StreamRoute("it's"), ("it's",), "streams show 'it'\"'\"'s'"),
    ]
    for place, breadcrumbs, line in cases:
        assert place.breadcrumbs == breadcrumbs
        assert command(PROD, place) == f"streamops -c prod {line}"


def test_an_entry_remembers_the_way_to_it() -> None:
    place = routes.EntryRoute("o", EntryId(1795000000000, 3), ("o", "g", "w"))
    assert place.breadcrumbs == ("o", "g", "w", "1795…-3")


def test_without_a_configured_context_the_command_names_the_url() -> None:
    context = ContextInfo("demo", "development", "the demo", "unix:///tmp/demo.sock")
    assert command(context, routes.StatusRoute()) == "streamops --url unix:///tmp/demo.sock status"


def test_a_command_is_one_line_that_a_terminal_only_shows() -> None:
    line = command(PROD, routes.StreamRoute("a\x1b]52;c;eA==\x07\nb\udcff"))
    assert line.isprintable()
    assert line == r"streamops -c prod streams show $'a\x1b]52;c;eA==\x07\x0ab\xff'"
    assert len(shlex.split(line)) == 6


def test_short_ids_are_never_longer_than_ids() -> None:
    for entry_id, short in [((5, 0), "5-0"), ((12345, 1), "12345-1"), ((123456, 1), "1234…-1")]:
        assert short_id(EntryId(*entry_id)) == short


def test_line_that_is_typed_leads_to_a_place() -> None:
    for text, goal in [
        ("status", routes.StatusRoute()),
        (" streams ", routes.StreamsRoute()),
        ("overview", routes.OverviewRoute()),
        ("alerts", routes.AlertsRoute()),
        ("ctx", routes.ContextsRoute()),
        ("ctx staging", Switch("staging")),
        ("q", Quit()),
        ("orders", routes.StreamRoute("orders")),
        ("payments", routes.StreamRoute("payments")),
        ("orders billing", routes.GroupRoute("orders", "billing")),
        ("orders/billing", routes.GroupRoute("orders", "billing")),
        ("dlq", routes.DeadLettersRoute()),
        ("payments:dlq", routes.StreamRoute("payments:dlq")),
        ("delayed", routes.DelayedQueuesRoute()),
        ("topics", routes.TopicsRoute()),
        ("workers", routes.WorkersRoute()),
        ("INVENT", routes.StreamRoute("inventory")),
        ("heatmap", routes.GroupRoute("clicks", "heatmap")),
        ("nowhere", Nowhere("no stream, group or screen matches nowhere")),
        ("pay", Nowhere("2 matches for pay: payments, payments:dlq; → takes the suggestion")),
        ("s", Nowhere("6 matches for s: clicks, emails, orders, …; → takes the suggestion")),
        ("orders nope", Nowhere("nope is neither a group of orders nor an entry ID such as 1526919030474-0")),
        ("\x1b[2J", Nowhere("no stream, group or screen matches \\x1b[2J")),
    ]:
        assert parse_goal(text, sample.shop()) == goal


def test_before_the_first_observation_only_words_lead_somewhere() -> None:
    assert parse_goal("streams", None) == routes.StreamsRoute()
    assert isinstance(parse_goal("orders", None), Nowhere)


PLACES: tuple[Route, ...] = (
    routes.StatusRoute(),
    routes.StreamsRoute(),
    routes.StreamRoute("-o"),
    routes.GroupRoute("orders", "--help"),
    routes.PendingRoute("orders", "billing"),
    routes.PendingRoute("orders", "billing", "-c"),
    routes.EntriesRoute("orders"),
    routes.EntryRoute("orders", EntryId(5, 0)),
    routes.ContextsRoute(),
    routes.OverviewRoute(),
    routes.AlertsRoute(),
    routes.ChartsRoute("orders", "--help"),
)


def test_every_command_is_one_that_the_command_line_takes() -> None:
    """Parsed to its last word, down to the command itself; a name stays a name, whatever it looks like."""
    for place in PLACES:
        for context in [PROD, ContextInfo("demo", url="redis://localhost:1/0")]:
            words = shlex.split(command(context, place))
            assert words[0] == PROGRAM
            parent, parameters = ROOT.make_context(PROGRAM, words[1:]), {}
            while isinstance(parent.command, click.Group):
                name, found, rest = parent.command.resolve_command(
                    parent, [*parent._protected_args, *parent.args]
                )
                assert found is not None
                parent = found.make_context(name, rest, parent=parent)
                parameters = parent.params
            for name in place.names:
                assert name in parameters.values() or (name,) in parameters.values()
