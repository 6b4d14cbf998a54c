"""KEDA's external scaler. Law: it gives the number that the loop decided on, decides nothing, and never says 0 for what it does not know."""
