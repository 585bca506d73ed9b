"""Emulated traffic as packets in pcap files."""
