"""The command line: `cardshoe`. Commands are imported when they are used, and other packages bring theirs."""
