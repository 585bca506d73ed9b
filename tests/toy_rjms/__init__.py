"""A toy RJMS, and its adapter: how little simunix needs of one (docs/internals/adapter.md)."""
