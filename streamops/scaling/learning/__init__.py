"""What a reading teaches. Law: each function takes a state and a reading and gives the state that knows more."""
