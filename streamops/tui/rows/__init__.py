"""Which rows a list shows, in which order, and what the cursor is on."""
