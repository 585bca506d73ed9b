"""Programs of type BPF_PROG_TYPE_CGROUP_DEVICE: read, verified, and run. The instruction set is that of RFC 9669."""
