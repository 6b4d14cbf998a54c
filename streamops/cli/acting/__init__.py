"""Commands that act: flags from an intent's fields, the plan shown, consent asked for, progress, the outcome.

Law: nothing is declared here that an intent declares; `--help` imports neither the engine nor redis-py.
"""
