"""Programs for maintainers of this project."""
