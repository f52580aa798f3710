"""The way to a device: URLs, serial ports on real pseudo-terminals, and the link keeper through losses and faults."""
