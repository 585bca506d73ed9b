"""Reads SimGrid's platform files and deployment files (XML, DTD 4.1)."""

from rsg_server.platform.simgrid_xml.reader import load_platform

__all__ = ["load_platform"]
