"""Tests of the installation: udev rules, the unit, the pages that describe it."""
