"""Scripts that run inside the machine, without the program and without these tests."""
