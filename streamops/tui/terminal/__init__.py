"""The terminal that the console runs in: its colours and clipboard, a pager, files beside it."""
