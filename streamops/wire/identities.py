"""Which servers answer: what was learnt from one says nothing of another that answers in its place."""

from collections.abc import Collection, Iterable

from streamops.model.streams import ServerNode


class Identities:
    """Who answers at each address, by the replication IDs that INFO told the last time.

    A replica that takes over may lack an entry, or a deletion, and get others: all its counts can be the same then, and
    what waits is not. Whoever keeps what servers told keeps the epoch with it, and drops it in another one. A server
    that starts anew or is promoted has other replication IDs; a replica that was not promoted has those of its primary,
    of which it is an earlier state: where that has the same counts, it has the same entries.

    In a cluster anybody's replacement begins a new epoch for all: it is rare, and a slot may have gone to another node
    meanwhile. If INFO may not be asked, that is not known, and the epoch stays.

    Attributes:
        epoch: A number that is another one once another server answers than before.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._known: dict[str, tuple[str, ...]] = {}

    def note(self, nodes: Iterable[ServerNode], silent: Collection[str] = ()) -> int:
        """Take note of who answered; the epoch that it is now.

        Args:
            nodes: Who answered, and said what it is.
            silent: Addresses that did not answer: who was there may be there still.
        """
        now = {node.address: node.replication_ids for node in nodes}
        if not now.items() <= self._known.items():
            self.epoch += 1
        # One that is asked no more is forgotten: where it comes back, others have answered for it meanwhile.
        self._known = {address: ids for address, ids in self._known.items() if address in silent} | now
        return self.epoch
