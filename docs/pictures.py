"""Draws the pictures of the documents: the console on the demo, after it has run for a while.

Wide, and at 80 by 24; and a claim with its undo as one that moves.

python -m docs.pictures [SECONDS]
"""

import asyncio
import re
import sys
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from streamops.demo.running import running_demo
from streamops.model.acting import Environment
from streamops.operations.console import Console
from streamops.settings.load import this_actor
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings

FOLDER: Final = Path(__file__).parent
SIZE: Final = (150, 34)
NARROW: Final = (80, 24)
SECONDS: Final = 300.0
"""By then the crashed consumer is found, and the charts are full."""

PICTURES: Final = {
    "console": ("home",),
    "charts": (":", *"orders:events shipping", "enter", "g"),
    "plan": (":", *"payments:events ledger", "enter", "home", "C", "enter"),
}
"""What is pressed before each: the first screen; how a busy one was; what would be done for one that needs it."""

CAST: Final = (
    (":", *"payments:events ledger", "enter"),
    ("home",),
    ("C",),
    ("enter",),
    ("enter",),
    ("z",),
    ("enter",),
)
"""What is pressed before each frame: to the group that needs it, its dead consumer, a claim, its plan, its outcome, and back."""
FRAME_SECONDS: Final = 3


def main() -> int:
    """Draw the pictures."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    asyncio.run(draw(seconds))
    return 0


async def draw(seconds: float) -> None:
    """Write each as SVG."""
    async with running_demo() as options:
        context = ContextInfo("demo", Environment.DEVELOPMENT, "127.0.0.1")
        actor = this_actor(context.name, Environment.DEVELOPMENT)
        app = StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(options, actor=actor)))
        async with app.run_test(size=SIZE) as pilot:
            await asyncio.sleep(seconds)
            for name, keys in PICTURES.items():
                (FOLDER / f"{name}.svg").write_text(await draw_after(pilot, keys))
            await pilot.press("escape", "escape", "escape")
            await pilot.resize_terminal(*NARROW)
            (FOLDER / "console-80.svg").write_text(await draw_after(pilot, ("1", "3")))
            frames = [await draw_after(pilot, keys) for keys in CAST]
            (FOLDER / "claim.svg").write_text(moving(frames))


async def draw_after(pilot: Pilot[int], keys: tuple[str, ...]) -> str:
    """The console as SVG, once keys were pressed and what they ask for has come."""
    await pilot.press(*keys)
    await pilot.pause(1)
    return without_remote_fonts(pilot.app.export_screenshot(title="streamops"))


def moving(frames: list[str]) -> str:
    """Pictures of one size as one that shows each for a while, again and again."""
    whole = FRAME_SECONDS * len(frames)
    head = re.match(r"<svg[^>]*>", frames[0])
    assert head is not None  # noqa: S101 - Textual draws them
    parts = [head[0]]
    for at, frame in enumerate(frames):
        shown = ";".join("visible" if at == other else "hidden" for other in range(len(frames)))
        animate = f'<animate attributeName="visibility" dur="{whole}s" calcMode="discrete" repeatCount="indefinite" values="{shown}"/>'
        parts += [f'<g visibility="hidden">{animate}', frame, "</g>"]
    return "\n".join((*parts, "</svg>\n"))


def without_remote_fonts(svg: str) -> str:
    """The picture in whatever monospaced font the reader has, rather than one fetched from elsewhere."""
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace(
        "font-family: Fira Code, monospace", "font-family: Menlo, DejaVu Sans Mono, Consolas, monospace"
    )


if __name__ == "__main__":
    sys.exit(main())
