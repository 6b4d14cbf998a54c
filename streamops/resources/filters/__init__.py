"""The small language of filters over lists: words, and comparisons with columns. Pure; every list has the same."""

from streamops.resources.filters.conditions import Measure, common_sign, measure_of
from streamops.resources.filters.filter import EVERY_SIGN, FIELD_SIGNS, NONE, Filter, column_named, names_of
from streamops.resources.filters.terms import Term, parse_terms

__all__ = [
    "EVERY_SIGN",
    "FIELD_SIGNS",
    "NONE",
    "Filter",
    "Measure",
    "Term",
    "column_named",
    "common_sign",
    "measure_of",
    "names_of",
    "parse_terms",
]
