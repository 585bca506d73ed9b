"""Resource and job management systems (RJMSs): the interface that simunix needs of one (`adapter`), and a folder for
each supported RJMS.
"""
