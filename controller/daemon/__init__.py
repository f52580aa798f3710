"""The daemon: configuration, people, the table's one decision at a time, and the process around it."""
