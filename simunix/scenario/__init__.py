"""The format of scenario files: sections, their checks, and the loader. This package knows no RJMS and no plan."""
