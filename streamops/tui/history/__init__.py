"""What was observed before, for charts: bounded in room, and finer the nearer it is. Pure: the clock is the server's.

Law: what was not known stays unknown, and a bound stays a bound.
"""
