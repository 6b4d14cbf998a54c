"""One module a command family, each imported only when it is called."""
