"""A search over the states that a small table can reach; docs/testing.md lists what is covered and what is not."""
