"""Tests of `cardshoe operate`."""
