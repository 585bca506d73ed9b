"""The network between hosts: flows of bytes that share links."""
