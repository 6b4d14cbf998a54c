"""The console's face of acting: which operations fit a row, their forms, plans, progress and outcomes.

Law: a capital opens a form and a plan, and never executes; what only an actor needs is imported when one acts.
"""
