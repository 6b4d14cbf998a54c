"""The console in a browser: one process a tab, on loopback, for whoever has the token; textual-serve's server, subclassed.

Law: nothing is started for a stranger; nothing that was started outlives its tab or the server; the page asks nobody else
for anything. Only ``driver`` imports Textual, in the process of the tab.
"""
