"""`cardshoe operate`: the words of people at a running table, at a prompt and from files."""
