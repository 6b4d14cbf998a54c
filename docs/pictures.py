"""Draws ``docs/console.svg``, the README's picture: the console on the demo, after it has run for a while.

python -m docs.pictures [SECONDS]
"""

import asyncio
import re
import sys
from pathlib import Path
from typing import Final

from streamops.demo.running import running_demo
from streamops.operate.console import Console
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings

PICTURE: Final = Path(__file__).parent / "console.svg"
SIZE: Final = (150, 34)
SECONDS: Final = 60.0
"""By then the crashed consumer is found, and the rates have a window to stand on."""


def main() -> int:
    """Draw the picture."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    PICTURE.write_text(asyncio.run(draw_console(seconds)))
    return 0


async def draw_console(seconds: float) -> str:
    """The console as SVG, sorted by health, the cursor on the worst group."""
    async with running_demo() as options:
        context = ContextInfo("demo", "development", "127.0.0.1")
        app = StreamopsApp(TuiSettings(context, (context,), lambda _: Console.open(options)))
        async with app.run_test(size=SIZE) as pilot:
            await asyncio.sleep(seconds)
            await pilot.press("o", "o", "o", "home")
            await pilot.pause(1)
            return without_remote_fonts(app.export_screenshot(title="streamops"))


def without_remote_fonts(svg: str) -> str:
    """The picture in whatever monospaced font the reader has, rather than one fetched from elsewhere."""
    return re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL).replace(
        "font-family: Fira Code, monospace", "font-family: Menlo, DejaVu Sans Mono, Consolas, monospace"
    )


if __name__ == "__main__":
    sys.exit(main())
