"""The console in the terminal, the only room that imports Textual.

Law: a frozen observation arrives as a message; no widget awaits I/O; screens pass attributes down and messages up.
"""

import os

# A frame that has just passed makes the next key wait for up to a whole one. Frames are drawn only if
# something changed, so a finer grid costs nothing while nothing does. Textual reads this when it is imported.
os.environ.setdefault("TEXTUAL_FPS", "240")
