"""Run a plan: make the containers of hosts, show hosts their own files, start and supervise processes. This package
knows no scenario and no RJMS.
"""
