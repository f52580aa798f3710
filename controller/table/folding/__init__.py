"""What each event sets, one module for each module of events. See `controller.table.evolve`."""
