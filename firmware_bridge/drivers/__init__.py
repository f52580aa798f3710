"""Drivers: the languages that devices speak, without any I/O.

A driver is handed bytes and the time and hands back bytes and what it heard (`firmware_bridge.drivers.base`).
"""
