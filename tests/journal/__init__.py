"""Tests of the journal: durability, integrity, append-only storage, and secrecy of concealed cards."""
