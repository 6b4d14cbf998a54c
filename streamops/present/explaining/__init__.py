"""What things mean: findings and bases of a lag. Pure words, for the help of the console and whoever else asks.

What a column means, and where its numbers come from, stands in the column itself.
"""

from streamops.present.explaining.findings import FINDINGS, Explanation, Remedy
from streamops.present.explaining.lags import BASES, TIME_LAG

__all__ = ["BASES", "FINDINGS", "TIME_LAG", "Explanation", "Remedy"]
