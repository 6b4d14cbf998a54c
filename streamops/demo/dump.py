"""Editing a stream's DUMP: the one way to make a consumer look unseen for long.

XCLAIM can backdate a pending entry, but nothing can backdate its consumer, and a console that trusts the
server shows a crashed consumer as crashed only after minutes. So the demo edits the serialized stream and
restores it. Layout: type byte, content, RDB version (two bytes), CRC64 (eight bytes, little-endian); within
the content a consumer is its name, the time it was last seen, from type 21 on the time it was last active,
and its pending entries. Source: ``rdb.c`` (rdbSaveObject, rdbLoadObject) and ``crc64.c`` of Redis and Valkey.
"""

from datetime import timedelta

_CHECKSUM_BYTES = 8
_TIME_BYTES = 8
_FIRST_TYPE_WITH_ACTIVE_TIME = 21
_LONGEST_SHORT_NAME = 63
_POLYNOMIAL = 0x95AC9329AC4BC9B5


def backdate_seen(dump: bytes, consumer: str, unseen: timedelta) -> bytes:
    """Move the time a consumer was last seen into the past.

    Args:
        dump: The reply of DUMP for a stream with one group.
        consumer: The consumer's name, at most 63 bytes.
        unseen: How much longer ago it shall have been seen.

    Returns:
        What RESTORE takes.

    Raises:
        ValueError: The dump holds no such consumer, or its name is too long.
    """
    name = consumer.encode()
    if len(name) > _LONGEST_SHORT_NAME:
        raise ValueError(f"a consumer name has at most {_LONGEST_SHORT_NAME} bytes here")
    content = bytearray(dump[:-_CHECKSUM_BYTES])
    # The last occurrence: consumers follow the entries and the pending entries of their group.
    found = content.rfind(bytes([len(name)]) + name)
    if found < 0:
        raise ValueError(f"the dump holds no consumer {consumer}")
    place = found + 1 + len(name)
    times = 2 if content[0] >= _FIRST_TYPE_WITH_ACTIVE_TIME else 1
    for start in range(place, place + times * _TIME_BYTES, _TIME_BYTES):
        moment = int.from_bytes(content[start : start + _TIME_BYTES], "little")
        earlier = moment - int(unseen / timedelta(milliseconds=1))
        content[start : start + _TIME_BYTES] = earlier.to_bytes(_TIME_BYTES, "little")
    return bytes(content) + crc64(content).to_bytes(_CHECKSUM_BYTES, "little")


def crc64(content: bytes | bytearray) -> int:
    """The checksum of a DUMP."""
    checksum = 0
    for byte in content:
        checksum = _TABLE[(checksum ^ byte) & 0xFF] ^ (checksum >> 8)
    return checksum


def _table_row(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_table_row(byte) for byte in range(256))
