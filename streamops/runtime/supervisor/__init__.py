"""Worker processes, started, watched, restarted, reloaded and drained by one parent."""
