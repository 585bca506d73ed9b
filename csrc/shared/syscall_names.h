/* Names of system calls, for messages, traces and reports. */
#ifndef SIMUNIX_SYSCALL_NAMES_H
#define SIMUNIX_SYSCALL_NAMES_H

/* cffi: begin */
const char *syscall_name(long number); /* returns "unknown" for a number without a row in syscalls.def */
/* cffi: end */

#endif
