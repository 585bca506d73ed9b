/* Numbers that site_entry.S and C must agree on; hot_site.c checks them. */
#ifndef SIMUNIX_SITE_H
#define SIMUNIX_SITE_H

#define SITE_CALLS 512
#define SITE_OWN_STACK_OFFSET 160 /* own_stack in struct thread */
#define SITE_PROCESS_OFFSET 152   /* process in struct thread */
#define SITE_TRACEE_OFFSET 8      /* traps.all in struct process */
#define SITE_OWN_STACK_BYTES 40960
#define SITE_BLOCKED 0xfffffffffffffbbf /* SIGNALS_IN_SHIM */

#endif
