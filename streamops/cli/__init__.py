"""The command line. Law: thin; stdout carries data, stderr narration; every command imports what it needs when it runs."""
