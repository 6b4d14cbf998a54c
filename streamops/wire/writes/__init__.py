"""Writes: one file a verb, each a script that rechecks what the plan was made from before it changes anything."""
