"""`cardshoe config`: a configuration checked, shown, and an example of one. The options come from the types."""
