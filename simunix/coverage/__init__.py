"""What simunix does with each system call, and what a program will meet, read from csrc/tables/syscalls.def."""
