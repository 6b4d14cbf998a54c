"""The nouns. Law: frozen values without I/O, clocks or opinions; Redis's own words for Redis's own things.

They are made by the ten thousand in every collection and cannot form a circle, so the garbage collector
need not look at them (``gc=False``).
"""
