"""`cardshoe capture`: record what crosses the wire, show it, play it back."""
