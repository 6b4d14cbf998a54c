"""The soak: hours of mixed load with a fault every minute, in minutes; what must stay flat and what must add up."""
