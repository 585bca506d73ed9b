"""How the jobs of a workload get into the cluster: the plan of the submitting program, job tables, policies."""
