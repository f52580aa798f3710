"""`cardshoe demo`: a device and a daemon as separate processes over a pty, watched through the API."""
