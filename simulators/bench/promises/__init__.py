"""Tests on frames, one or more for each promise that docs/cardlink.md makes of a device, by its sections."""
