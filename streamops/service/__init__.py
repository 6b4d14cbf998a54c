"""What every long-running process sets up: event loop, logs, HTTP listening, TLS, authentication. Law: no word of what it is for."""
