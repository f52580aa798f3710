"""A search over the states that a small table can reach; docs/search.md says what is searched and what is not."""
