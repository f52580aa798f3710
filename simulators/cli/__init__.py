"""`cardshoe simulate` and its fault console."""
