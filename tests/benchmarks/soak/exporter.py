"""The exporter as ``streamops exporter`` starts it, with its caches full: ``python -m tests.benchmarks.soak.exporter exporter ...``."""

from streamops.main import main
from tests.benchmarks.soak.warm import fill_caches

if __name__ == "__main__":
    fill_caches()
    main()
