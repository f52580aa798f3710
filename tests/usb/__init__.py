"""Tests of USB: the model of a device, its adapters, and the host's view of them."""
