"""Debian's package: built, looked at, and lived through in a bare Debian 12."""
