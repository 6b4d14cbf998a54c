"""The console of a tab, on the invented shop."""

import os
import sys

from msgspec.structs import replace

from streamops.tui.app import run
from tests.support.tui.shop import shop_source
from tests.support.tui.source import settings_for

if __name__ == "__main__":
    if "fails" in sys.argv:
        sys.stderr.write("error: \x1b]52;c;eA==\x07 nothing answers\n")
        sys.exit(3)
    settings = settings_for(shop_source(), read_only=True)
    context = replace(settings.context, shows_plans=True, address=f"pid-{os.getpid()}")
    sys.exit(run(replace(settings, context=context)))
