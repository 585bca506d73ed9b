"""Compute when network flows finish: read the flows from a file, move them over a platform with the network model
alone, and write the finish times.
"""
