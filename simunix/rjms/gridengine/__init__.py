"""The adapter for Grid Engine: clusters of sge_qmaster and sge_execd."""
