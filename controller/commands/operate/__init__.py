"""`cardshoe operate`: commands in words at a running table, at a prompt and from files."""
