"""Many sites, one model: rows stay where they are, and only sums over all sites are ever seen by anybody else."""
