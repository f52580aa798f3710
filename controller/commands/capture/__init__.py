"""`cardshoe capture`: record the bytes to and from a device, show them, and play them back."""
