"""``python -m streamops`` is the ``streamops`` command."""

from streamops.main import main

if __name__ == "__main__":
    main()
