"""What a guard is."""

from msgspec import Struct


class Guard(Struct, frozen=True, kw_only=True):
    """A few words of the code without which a promise does not hold.

    Attributes:
        name: What it is called; words with hyphens.
        promise: What holds because of it, in one sentence.
        file: Where it stands, from the root of the checkout.
        text: What stands there, exactly once.
        mutated: What stands there without it.
        tests: The tests that fail then, each as ``room::function``: a folder under ``tests``, or a file without its
            suffix, and a function in it. They may move within their room.
        server: Which server they are to run on, where they do on several; the newest unless given.
    """

    name: str
    promise: str
    file: str
    text: str
    mutated: str
    tests: tuple[str, ...]
    server: str = ""
