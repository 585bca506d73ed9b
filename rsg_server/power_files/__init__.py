"""What programs inside see and do of power: frequencies, joules and limits, as files that the shim asks the server for."""
