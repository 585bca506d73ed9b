"""CPython's own test suite, natively and emulated: the same verdicts, or a difference that is listed with its reason."""
