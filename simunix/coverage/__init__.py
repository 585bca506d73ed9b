"""The treatment of each system call, and of a program's calls, from the table that is built from csrc/tables/syscalls.def."""
