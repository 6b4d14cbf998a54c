"""What is said of a snapshot that could not be read whole."""

from streamops.exporter.target import nothing_read, unread_parts
from streamops.model.snapshot import NO_SUCH_STREAM, Gap
from tests.support.invented import snapshot, stream
from tests.support.tables import table

BUSY = "it is busy running a script"


@table(
    ("gaps", "reason"),
    [
        ((), None),
        ((Gap(NO_SUCH_STREAM, "orders"),), None),
        ((Gap(BUSY, part="server clock"),), None),
        ((Gap("slow", "a", "g", "consumers"),), None),
        ((Gap(BUSY, "a"), Gap("other", "b"), Gap(BUSY, "c")), f"no stream can be read: {BUSY}"),
        (
            (Gap("no permission for XINFO STREAM", "a", denied=True),),
            "no stream can be read: no permission for XINFO STREAM",
        ),
        ((Gap("no permission for SCAN", part="discovery"),), "no stream can be read: no permission for SCAN"),
    ],
)
def test_whether_anything_was_read(gaps: tuple[Gap, ...], reason: str | None) -> None:
    assert nothing_read(snapshot(gaps=gaps)) == reason
    assert nothing_read(snapshot(stream("orders"), gaps=gaps)) is None


def test_parts_are_told_with_their_usual_reason() -> None:
    gaps = (
        Gap("rare", "a"),
        Gap(BUSY, "b"),
        Gap(BUSY, "c"),
        Gap(NO_SUCH_STREAM, "d"),
        Gap(BUSY, part="server clock"),
        Gap("12 consumers", "b", "g", "consumers"),
    )
    assert unread_parts(snapshot(gaps=gaps)) == {"streams": BUSY, "server clock": BUSY}
    assert unread_parts(snapshot()) == {}
