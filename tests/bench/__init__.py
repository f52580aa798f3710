"""Tests of `cardshoe bench`: what every device must do."""
