"""`cardshoe floor`: the floor of a casino, by way of its broker."""
