"""tmp"""
from rsg_server.platform.platform import Platform
def star(hosts, **k):
    return Platform(hosts)
