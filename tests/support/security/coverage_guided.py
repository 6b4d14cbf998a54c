"""The same decoders under atheris, which looks for inputs that lead to lines not yet reached.

``python -m tests.support.security.coverage_guided test_topics 60`` tries one test of ``test_fuzz`` for a minute. It is no part of
the suite: atheris is built for few systems, and who fuzzes wants hours. ``pip install atheris`` first.
"""

import importlib
import sys

SECONDS = "60"


def main() -> None:
    """Fuzz the test that the command line names, until its time is over or something else than our errors comes out."""
    import atheris  # type: ignore[import-untyped,import-not-found,unused-ignore]  # noqa: PLC0415 - for those who have it

    name, seconds, *rest = (*sys.argv[1:], SECONDS)[: max(2, len(sys.argv) - 1)]
    with atheris.instrument_imports(include=["streamops"]):
        module = importlib.import_module("tests.unit.security.test_fuzz")
    test = getattr(module, name).hypothesis.fuzz_one_input
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", *rest], test)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
