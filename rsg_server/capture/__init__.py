"""Writes the traffic of emulated hosts as packets into pcap files."""
