"""Clients that ask over a bare socket, and those that never come to an end."""

import asyncio

SHORT = 0.2
"""Seconds that take the place of the quarter of a minute and more that clients are given."""


async def asked(port: int, request: bytes) -> bytes:
    """What comes back until the server closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()


async def dripped(port: int, begin: bytes) -> bytes:
    """Send a beginning, then a byte now and then for as long as the server listens; all that it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(begin)
    said = b""
    try:
        async with asyncio.timeout(20):
            while True:
                writer.write(b"x" if begin else b"")
                try:
                    async with asyncio.timeout(SHORT / 5):
                        part = await reader.read(1 << 16)
                except TimeoutError:
                    continue
                if not part:
                    return said
                said += part
    except ConnectionError:
        return said
    finally:
        writer.close()
