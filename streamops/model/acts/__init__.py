"""One file a verb: its intent (what the operator asks for) and its evidence (what the server says about it).

An intent's fields carry everything that a flag of the command line and a field of the console's form need:
type, default, help, and the marks of ``fields``. Both are derived from there.
"""
