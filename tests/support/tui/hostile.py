"""Text that wants to be more than text, in every place where a server, a producer or a file can put it.

As a program, the console on it, for a test to look at through a real terminal.
"""

import sys
from collections.abc import Iterable
from functools import cache

from msgspec.structs import replace

from streamops.model.entries import PendingEntry, StreamEntry
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.observation import Finding, FindingCode, Health, Observation
from streamops.model.streams import ReadError
from streamops.resources.text import is_safe
from streamops.tui.app import StreamopsApp, run
from streamops.tui.source import ContextInfo, TuiSettings
from tests.support import invented
from tests.support.invented import consumer, entry_id, minutes, pending_entry, seconds
from tests.support.tui import sample
from tests.support.tui.driving import press
from tests.support.tui.source import InventedSource, settings_for

TEXTS = (
    "[@click=app.bell]click[/]",
    '[@click=app.exit("x")]orders[/]',
    "[/x]",
    "[bold",
    "[true, false]",
    "$secondary [link=file:///etc/passwd]",
    "\x1b]52;c;SEVMTE8=\x07",
    "\x1b]0;PWNED\x07",
    "\x1b[2J\x1b[31337m",
    "\x9b31337m\x9d0;PWNED\x9c",
    "\x1bP+q544e\x1b\\",
    "a\r\nb\tc\x00\x08\x7f",
    "\u202egnp.exe\u2066",
    "zero\u200bwidth\ufeff\U000e0001",
    "\udcff\udcfe\udc9b",
    "e\u0301\u0301\u0301 日本語 🔥👩‍👩‍👧",
    "-rf --no-preserve-root $(reboot) `reboot` 'quoted'",
    "",
)
EVERYTHING = "".join(TEXTS)
BYTES = (
    *(text.encode("utf-8", "surrogatepass") for text in TEXTS),
    b"\xff\xfe\x1b]52;c;SEVMTE8=\x07",
    b'{"a": "\\u001b]52;c;SEVMTE8=\\u0007", "b": [true, false]}',
    b'["\x1b[31337m"]',
    b"\x81\xa1a\xa7\x1b]0;PWN",
    b"\x1f\x8b\x1b[2J",
    bytes(range(256)),
)


def observation(text: str) -> Observation:
    """One stream with one group, where everything that can hold text holds this one."""
    finding = Finding(FindingCode.STALLED, Health.CRITICAL, f"finding {text}", f"advice {text}")
    name = f"s{text}"
    lag = Lag(None, 1, None, LagBasis.LOWER, f"reason {text}")
    group = invented.group(
        f"g{text}", lag=lag, pending=2, oldest=pending_entry(minutes(1), consumer=f"c{text}"),
        oldest_age=minutes(1), members=(consumer(f"c{text}", pending=2),),
    )  # fmt: skip
    group = replace(group, time_lag=TimeLag(None, f"time {text}"))
    return sample.observation(
        sample.stream_view(
            name, sample.group_view(name, group, finding), findings=(finding,), source=f"o{text}"
        ),
        findings=(finding,),
        gaps=(ReadError(f"gap {text}", f"s{text}", f"g{text}", f"p{text}"),),
    )


def entries() -> tuple[StreamEntry, ...]:
    """One entry for each hostile value, its field named by it too."""
    return tuple(
        StreamEntry(entry_id(seconds(100 - number)), ((value, value), (b"plain", value * 3)))
        for number, value in enumerate(BYTES)
    )


def source(text: str) -> InventedSource:
    """A source that says such things, and reads such entries."""
    pending = [PendingEntry(entry.id, f"c{text}", minutes(1), 3) for entry in entries()]
    return InventedSource(observation(text), entries(), pending)


def settings(text: str) -> TuiSettings:
    """Settings whose context is named such."""
    plain = settings_for(source(text))
    context = ContextInfo("prod", f"e{text}", f"a{text}")
    return replace(
        plain, context=context, contexts=(context, ContextInfo(f"n{text}", f"e{text}", f"a{text}"))
    )


@cache
def is_shown(text: str) -> bool:
    """Whether a terminal only shows a text."""
    return (text.isascii() and text.isprintable()) or all(map(is_safe, text))


def check_screen(app: StreamopsApp) -> None:
    """Nothing on the screen is obeyed by a terminal or bound to an action."""
    for strip in app.screen._compositor.render_strips():
        for segment in strip:
            assert is_shown(segment.text), segment
            assert segment.control is None
            assert segment.style is None or not segment.style.meta.get("@click")
            assert segment.style is None or segment.style.link is None


async def press_checked(app: StreamopsApp, keys: Iterable[str]) -> None:
    """Press keys, and look at the screen after each."""
    for key in keys:
        await press(app, key)
        check_screen(app)


if __name__ == "__main__":
    sys.exit(run(settings(EVERYTHING)))
