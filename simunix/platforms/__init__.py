"""Platforms (hosts, links and routes): show them as tables and pictures, and convert between SimGrid's files and
scenarios.
"""
