"""A simulated device on USB: descriptors, the device's side of USB without I/O, and what connects it to a device.

Its transfers are carried elsewhere: by USB/IP (`simulators.ports.usbip`), and by adapters in tests.
"""
