"""Elementary counts on any engine: cells, and pairs of modes on the same cases."""
