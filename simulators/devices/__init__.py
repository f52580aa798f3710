"""Simulated devices: the mechanism, the device side of each protocol, and all their faults."""
