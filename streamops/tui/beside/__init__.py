"""What stands beside streams, as the console reads and tells it: dead letters, delayed messages, topics, workers, traces.

Law: read on demand, at a pace that its cost allows; told in lines that are pure.
"""
