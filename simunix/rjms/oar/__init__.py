"""The adapter for OAR: clusters of the daemon Almighty with its PostgreSQL, and nodes with OAR's own sshd."""
