"""Results: jobs.csv, run.json, the table at the end."""
