"""`simunix explore`: runs a scenario with many seeds, each of which chooses other orders of threads, delays of packets
and faults, all possible in reality.
"""
