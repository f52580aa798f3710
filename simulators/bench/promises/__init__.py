"""Tests on frames: one or more for each promise that docs/cardlink.md makes about a device, by section."""
