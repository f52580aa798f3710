"""Power cuts: what the journal's own code writes and syncs is recorded, and what may remain is opened."""
