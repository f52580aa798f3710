"""A simulated device on USB: descriptors, the device's side of USB without I/O, and what connects it to a device.

What carries its transfers is elsewhere: USB/IP (`simulators.ports.usbip`), and adapters of tests.
"""
