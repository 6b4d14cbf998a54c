"""What every long-running process of ours sets up: its event loop, its log lines, its door, its end. Law: no word of what it is for."""
