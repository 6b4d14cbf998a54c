"""The console's reads in the background: what is known now, the poller, and entries followed live."""
