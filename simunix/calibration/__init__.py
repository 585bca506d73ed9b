"""From what charged runs have measured to what programs compute before their calls (`cpu_policy: modelled`)."""
