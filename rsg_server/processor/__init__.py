"""The processors of a host: how computing threads share the cores. This folder knows neither actors nor processes."""
