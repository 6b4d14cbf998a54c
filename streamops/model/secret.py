"""Values that never print themselves."""


class Secret:
    """A value that never prints itself. Call ``reveal`` only to hand it to the program it is meant for.

    Not a Struct: an encoder that walks into it by accident must stumble over it, not print it.
    """

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """The value itself."""
        return self._value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__
