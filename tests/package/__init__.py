"""Tests of the Debian package: built, examined, and used in a bare Debian 12."""
