"""Resource and job management systems: what each needs to run for a whole cluster."""
