"""Durations as people write them."""
from rsg_server.errors import SimunixError
def parse_duration_ns(text, where):
    return int(float(text)*1e9)
