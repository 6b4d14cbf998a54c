"""Pure verdicts: lag, rates, health. Law: no I/O and no clock; ``now`` is an argument, always."""
