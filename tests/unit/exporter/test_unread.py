"""What is said of a snapshot that could not be read whole."""

from streamops.exporter.target import nothing_read, unread_parts
from streamops.model.streams import NO_SUCH_STREAM, ReadError
from tests.support.invented import snapshot, stream
from tests.support.tables import table

BUSY = "it is busy running a script"


@table(
    ("gaps", "reason"),
    [
        ((), None),
        ((ReadError(NO_SUCH_STREAM, "orders"),), None),
        ((ReadError(BUSY, part="server clock"),), None),
        ((ReadError("slow", "a", "g", "consumers"),), None),
        (
            (ReadError(BUSY, "a"), ReadError("other", "b"), ReadError(BUSY, "c")),
            f"no stream can be read: {BUSY}",
        ),
        (
            (ReadError("no permission for XINFO STREAM", "a", denied=True),),
            "no stream can be read: no permission for XINFO STREAM",
        ),
        (
            (ReadError("no permission for SCAN", part="discovery"),),
            "no stream can be read: no permission for SCAN",
        ),
    ],
)
def test_whether_anything_was_read(gaps: tuple[ReadError, ...], reason: str | None) -> None:
    assert nothing_read(snapshot(gaps=gaps)) == reason
    assert nothing_read(snapshot(stream("orders"), gaps=gaps)) is None


def test_parts_are_told_with_their_usual_reason() -> None:
    gaps = (
        ReadError("rare", "a"),
        ReadError(BUSY, "b"),
        ReadError(BUSY, "c"),
        ReadError(NO_SUCH_STREAM, "d"),
        ReadError(BUSY, part="server clock"),
        ReadError("12 consumers", "b", "g", "consumers"),
    )
    assert unread_parts(snapshot(gaps=gaps)) == {"streams": BUSY, "server clock": BUSY}
    assert unread_parts(snapshot()) == {}
