"""A search over the states that a small table can reach; docs/search.md lists what is covered and what is not."""
