"""Non-Commission Three Pictures (RWS): the document as data."""
