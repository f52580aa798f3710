"""What runs inside the machine: by itself, without the program and without these tests."""
