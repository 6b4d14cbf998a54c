"""The shop of the sample as a source, and what its first screen lists."""

from streamops.errors import Unreachable
from tests.support.tui import sample
from tests.support.tui.source import InventedSource

FAULTY = ["payments/ledger", "emails/mailer", "orders/fulfilment", "payments:dlq/-"]
"""As the first screen has them: the worst on top, then the greatest lag."""
ALL = [
    *FAULTY,
    "clicks/heatmap",
    "inventory/sync",
    "orders/billing",
    "orders/reports",
    "sensors/store",
]
REFUSED = Unreachable("cannot connect: connection refused", "check that the server runs")


def shop_source(**changes: object) -> InventedSource:
    """The shop with entries in every stream, and with pending ones in every group; other attributes as given."""
    source = InventedSource(sample.shop(), sample.entries(), sample.pending_rows())
    for name, value in changes.items():
        setattr(source, name, value)
    return source
