"""A program of SimGrid's module: its functions, and a deployment file that says which actors they are."""

import sys

import application
import simgrid

engine = simgrid.Engine(sys.argv)
engine.load_platform(sys.argv[1])
for name in ("sender", "receiver", "counter", "switcher"):
    engine.register_actor(name, getattr(application, name))
engine.load_deployment(sys.argv[2])
engine.run()
print(f"{engine.clock:.6f} end")
