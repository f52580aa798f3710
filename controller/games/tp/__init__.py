"""Three Pictures (MBS): the document as data."""
