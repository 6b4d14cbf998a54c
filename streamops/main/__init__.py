"""The ``streamops`` command: the lazy command group, and the faces it is composed of.

Law: starting up imports click and nothing else of weight; a command's imports are its own.
"""

from streamops.main.program import main

__all__ = ["main"]
