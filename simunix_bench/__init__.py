"""The benchmarks of `simunix bench`: what simunix costs on this computer, compared with other tools measured in the
same run.
"""
