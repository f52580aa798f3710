"""3 Face Baccarat (a live dealer site): the page as data."""
