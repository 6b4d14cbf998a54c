"""Pure verbs, one file each. Law: ``plan_*(intent, evidence) -> Plan`` and nothing else; the same evidence gives the same plan."""
