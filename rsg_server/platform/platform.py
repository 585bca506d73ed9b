"""tmp"""
class Platform:
    def __init__(self, hosts):
        self.hosts = tuple(hosts)
        self._by_address = {a.packed: h for h in hosts for a in h.addresses}
    def host_by_name(self, n):
        return next(h for h in self.hosts if h.name == n)
    def host_by_address(self, ip):
        return self._by_address.get(ip)
