"""Servers in a thread that speak RESP and mean no good."""

import socketserver
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import repeat
from threading import Thread


@contextmanager
def replying_to_all(*replies: bytes, endless: bytes = b"") -> Iterator[int]:
    """Answer whatever comes with these, then with the last; the port.

    Args:
        replies: What is answered.
        endless: What follows the last, until the client hangs up.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            left = list(replies)
            with suppress(OSError):
                while self.request.recv(1 << 16):
                    self.request.sendall(left.pop(0) if left else replies[-1])
                    for part in repeat(endless) if endless and not left else ():
                        self.request.sendall(part)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()
