"""Private decision lists: rules chosen greedily by EM-cover (Bun, Fang)."""
