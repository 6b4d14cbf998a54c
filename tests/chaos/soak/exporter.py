"""The exporter as ``streamops exporter`` starts it, with its caches full: ``python -m tests.chaos.soak.exporter exporter ...``."""

from streamops.main import main
from tests.chaos.soak.warm import fill_caches

if __name__ == "__main__":
    fill_caches()
    main()
