"""The command line `cardshoe`. Commands are imported when used; other packages add theirs as entry points."""
