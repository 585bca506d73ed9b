"""Learn, from the measurements of runs under `cpu_policy: charged`, how long programs compute before their calls, for
`cpu_policy: modelled`.
"""
