"""The bench: tests and measurements of one device, simulated or real."""
