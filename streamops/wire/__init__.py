"""The only room that speaks Redis.

Law: redis-py is configured, called and translated here and nowhere else; replies become nouns by pure
functions; milliseconds and bytes-for-names end at this door.
"""
