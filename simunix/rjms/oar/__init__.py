"""OAR: clusters of Almighty with its PostgreSQL, and nodes with OAR's own sshd."""
