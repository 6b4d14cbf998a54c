"""What a policy would do under loads whose answer is known. Law: the same chance gives the same run; no clock and no chance of its own."""
