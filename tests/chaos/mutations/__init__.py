"""What the promises rest on, guard by guard: each is taken out of a copy of the code, and a test has to notice.

A guard is a few words of the code, what they are put in place of, and the tests that fail without them. Guards are
listed in ``guards``, by what they are for. ``python -m tests.chaos.mutations --help`` tells how to run them.
"""
