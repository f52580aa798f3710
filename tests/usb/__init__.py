"""USB: the model of a device, its adapters, and what the host makes of them."""
