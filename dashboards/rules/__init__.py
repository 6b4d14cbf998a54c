"""The Prometheus rules. Law: pure functions of the pace to expressions and words; nothing is read or asked.

An alert is raised by what is known. Unknown values are absent, and absent series raise nothing, but for
``ExporterDown`` and ``CollectErrors``, which say that something is absent.
"""

from dashboards.rules.files import RULES_FILE, build_rules, rule_files

__all__ = ["RULES_FILE", "build_rules", "rule_files"]
