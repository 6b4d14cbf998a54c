"""Starting this package's own modules as child processes."""

import os
import sys
from pathlib import Path


def module_command(module: str, *args: str) -> list[str]:
    """The command line that runs a module with this interpreter.

    ``-P`` keeps the current directory out of the search path: whoever may write there would have their modules run.
    """
    return [sys.executable, "-P", "-m", module, *args]


def module_environment() -> dict[str, str]:
    """This process's environment, with its own module search path, so that the child finds the same code."""
    search_path = os.pathsep.join(str(Path(place).absolute()) for place in sys.path)
    return os.environ | {"PYTHONPATH": search_path}
