"""Shared by the tests of tallies."""

from streamops.operate.tallies import CountBudget

BUDGET = CountBudget(per_range=50, per_collection=120, per_page=20, rounds=20)
