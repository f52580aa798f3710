"""Every clause of every rules document has code and tests, or a reason why it is outside."""
