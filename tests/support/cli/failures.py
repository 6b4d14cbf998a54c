"""Shared by the tests of failures."""

import sys

STREAMOPS = (sys.executable, "-P", "-m", "streamops")
