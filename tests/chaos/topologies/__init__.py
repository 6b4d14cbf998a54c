"""Histories on clusters and behind Sentinels: operators and workers go on while slots move and primaries change.

Law: whoever publishes or prepares writes down what the server confirmed, with plain commands; what a fault destroyed
is read from the replica that takes over, never from what is tested.
"""
