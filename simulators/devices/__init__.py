"""Simulated devices: the mechanism, the device side of each protocol, and every fault that they can be given."""
