"""The daemon: configuration, the table's one decision at a time, and the process around it."""
