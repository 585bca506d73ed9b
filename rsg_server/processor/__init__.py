"""The processors of a host: how the threads that compute share the cores. Knows neither actors nor processes."""
