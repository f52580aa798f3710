"""The device from the other side, and the people around the table: for demonstrations, benches and tests.

Nothing imports this package; it brings its commands by entry points. The simulated dealer and players live in the
simulated device's process, which is the physical table: they see the cards there, and of the daemon they know only what
its API publishes.
"""
