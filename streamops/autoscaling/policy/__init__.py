"""How many workers a pool should have. Law: ``decide(config, state, demand) -> (state, decision)``, frozen values, no clock."""
