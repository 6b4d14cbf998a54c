"""The script that moves letters: what it writes is what the pure reading of a letter says."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.wire.script_calls import Value, lua_value


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.binary(), st.text()),
        lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
        max_leaves=8,
    )
)
def test_values_are_messagepack(value: Value) -> None:
    import msgspec  # noqa: PLC0415 - only to compare

    read = msgspec.msgpack.decode(lua_value(value)) if _is_text(value) else None
    assert read is None or read == value


def _is_text(value: object) -> bool:
    match value:
        case bytes():
            return False
        case list():
            return all(map(_is_text, value))
        case dict():
            return all(map(_is_text, value.values()))
    return True
