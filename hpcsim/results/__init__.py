"""Results: run a simulation, keep its tables, measure them."""
