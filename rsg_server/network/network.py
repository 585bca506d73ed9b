"""tmp"""
LAT = 50_000
class Flow:
    def __init__(self, net, deliver):
        self.net = net; self.deliver = deliver; self.in_flight_bytes = 0; self.dead = False; self.last = 0
    def _at(self, n):
        t = max(self.net.clock.now_ns + LAT, self.last) + n * 8 // 10
        self.last = t
        return t
    def send(self, data):
        self.in_flight_bytes += len(data)
        def go():
            if not self.dead:
                self.in_flight_bytes -= len(data)
                self.deliver(data)
        self.net.timeline.add(self._at(len(data)), go)
    def finish(self, action):
        self.net.timeline.add(self._at(64), lambda: None if self.dead else action())
    def cancel(self):
        self.dead = True
class Network:
    def __init__(self, clock, timeline, platform):
        self.clock = clock; self.timeline = timeline
    def open_flow(self, a, b, deliver):
        return Flow(self, deliver)
    def message(self, a, b, action, size_bytes=64):
        self.timeline.add(self.clock.now_ns + LAT, action)
