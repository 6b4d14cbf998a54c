"""Charts as text: lines of braille dots and areas of blocks over axes with units and true times. Pure.

Law: what is not known is a gap and never 0, a bound is drawn as a bound, and every axis of values begins at 0.
"""
