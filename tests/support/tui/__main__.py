"""The console on the invented shop, to look at: ``python -m tests.support.tui [dark|light]``."""

import sys

from streamops.tui.app import run
from tests.support.tui import sample
from tests.support.tui.source import InventedSource, settings_for

if __name__ == "__main__":
    theme = sys.argv[1] if len(sys.argv) > 1 else "dark"
    shop = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    sys.exit(run(settings_for(shop, theme=theme)))
