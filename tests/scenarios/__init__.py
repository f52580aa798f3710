"""The packaged scenarios are played, and what they are written in is held to its word."""
