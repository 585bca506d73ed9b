/* Room entry: how control comes into the shim, from the constructor, a trap, a preloaded function or a replaced vDSO function,
 * and the table that every call passes (dispatch.c).
 *
 * The topmost room: it may call all others, and none calls it.
 */
#ifndef SIMUNIX_ENTRY_H
#define SIMUNIX_ENTRY_H

#include "shim/core/core.h"

/* dispatch.c */
long dispatch(struct call *call);
bool dispatch_passes_on(const struct call *call);
long dispatch_unknown(struct call *call, const char *what);

/* trap.c */
void trap_install(void);

/* trap_places.c */
size_t trap_places_end(const struct process *process);
void trap_places_count(const struct call *call, uint64_t address);

/* init.c */
bool shim_begin(char **argv, char **environment);

/* injected.c, injected_entry.S */
void injected_entry(void);
uint64_t injected_place(const uint8_t *flat, int library);
void injected_start(uint64_t *stack, void *flat, size_t size, int library);

/* preempt.c */
void preempted(struct thread *thread, struct ucontext *context);

/* preload.c */
void preload_start(void);

/* vdso.c */
void vdso_patch(uint64_t base);

#endif
