"""A service manager's end of its socket."""

import select
import socket
from collections.abc import Callable

LONGEST_WAIT = 20.0


class Manager:
    """A service manager's socket."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(address)

    def hear(self) -> list[str]:
        """The next datagram, line by line."""
        assert select.select([self._socket], [], [], LONGEST_WAIT)[0]
        return self._socket.recv(4096).decode().split("\n")

    def hear_until(self, true: Callable[[list[str]], bool]) -> list[list[str]]:
        """All datagrams up to one."""
        heard = [self.hear()]
        while not true(heard[-1]):
            heard.append(self.hear())
        return heard

    def close(self) -> None:
        self._socket.close()
