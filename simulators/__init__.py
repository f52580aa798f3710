"""Simulated devices, and the people around the table, for demonstrations, benches and tests.

Nothing imports this package; its commands are found by entry points. The simulated dealer and players run in the
process of the simulated device, which is the physical table: they see the cards on it, and know about the daemon only
what its API publishes.
"""
