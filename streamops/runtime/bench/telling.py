"""How far a benchmark is."""

from collections.abc import Callable

Tell = Callable[[str, int, int], object]
"""Called now and then with what is measured, how many entries are done, and of how many."""
