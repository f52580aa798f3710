"""Tests of Debian's package: built, examined, and used in a bare Debian 12."""
