"""`cardshoe config`: check or show a configuration, or print an example. The options come from the types."""
