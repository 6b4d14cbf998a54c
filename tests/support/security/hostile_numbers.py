"""Numbers that no clock, calendar or counter holds, and the names they are planted under."""

S, G, POOL = "orders", "billing", "pool"
HUGE = ("9" * 5000, "9223372036854775807", "-inf", "²")
