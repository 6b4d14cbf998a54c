"""Where the checkout is."""

from pathlib import Path
from typing import Final

PROJECT: Final = Path(__file__).parents[2]
