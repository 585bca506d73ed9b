"""The format of scenario files: sections, their checks, and the loader. Nothing here knows an RJMS or a plan."""
