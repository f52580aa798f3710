"""Power cuts: the journal's writes and syncs are recorded, and each possible remainder on the disk is opened."""
