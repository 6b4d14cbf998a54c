"""One file a verb: its surveyor reads the evidence, its applier writes what the plan said. ``registry`` lists them."""
