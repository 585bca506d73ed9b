"""What simunix does with each system call, and what a program will meet: the table of csrc/syscalls.def, seen from outside."""
