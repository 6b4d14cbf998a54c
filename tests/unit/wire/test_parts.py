"""Names that look like encoded ones are none."""

from streamops.wire.keys import decoded_part, done_key, encoded_part


def test_a_name_that_looks_encoded_is_another_one() -> None:
    assert done_key("s", "g", "a:b") != done_key("s", "g", "a%3Ab")
    assert decoded_part(encoded_part("a%3Ab")) == "a%3Ab"
