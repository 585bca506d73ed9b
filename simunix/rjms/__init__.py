"""Resource and job management systems (RJMSs): what simunix needs of one (`adapter`), and a folder for each that it knows."""
