"""Addresses at which nothing answers."""

import sys

STREAMOPS = (sys.executable, "-P", "-m", "streamops")
