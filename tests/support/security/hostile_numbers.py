"""Shared by the tests of hostile numbers."""

S, G, POOL = "orders", "billing", "pool"
HUGE = (
    "9" * 5000,
    "99999999999999999",
    "9223372036854775807",
    "-9223372036854775808",
    "1e300",
    "nan",
    "-inf",
    "²",
)
