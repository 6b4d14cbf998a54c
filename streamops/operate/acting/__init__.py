"""The acting engine: intent, survey, plan, consent, apply, outcome, audit. Law: no operation is named here."""
