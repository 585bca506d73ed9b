/* Room entry: how control comes into the shim, from the constructor, a trap, a preloaded function or a replaced vDSO function,
 * and the table that every call passes (dispatch.c).
 *
 * The topmost room: it may call all others, and none calls it.
 */
#ifndef SIMUNIX_ENTRY_H
#define SIMUNIX_ENTRY_H

#include "shim/core/core.h"
#include "shim/entry/site.h"

#define SYSCALL_BYTES 2 /* the length of the instruction `syscall` */
#define LONG_JUMP_BYTES 5

struct map_query;

/* dispatch.c */
long dispatch(struct call *call);
bool dispatch_passes_on(const struct call *call);
long dispatch_unknown(struct call *call, const char *what);

/* trap.c */
void trap_install(void);

/* trap_places.c */
void trap_places_map(struct process *process);

/* calibrate.c, preload.c */
void calibrate(struct thread *thread);
long preload_answer(long number);
void trap_places_count(const struct call *call, uint64_t address);

/* instruction.c */
struct instruction {
    unsigned length;       /* in bytes; 0: the instruction is not known */
    unsigned displacement; /* the place of the instruction's displacement, which is relative to the next instruction; 0:
                            * there is none */
    bool leads_elsewhere;  /* the program does not always go on with the next instruction (jumps, returns) */
};
struct instruction instruction_at(const uint8_t *at);

/* approach.c: the instructions that lead straight to a `syscall`, up to its first byte. */
struct approach {
    uint64_t begin, end, image;
};
bool approach_find(uint64_t instruction, const struct map_query *text, struct approach *found);
uint8_t *approach_copy(uint8_t *to, const struct approach *approach);

/* padding.c */
uint64_t function_begin(uint64_t instruction, const struct map_query *text, uint64_t *image);
uint64_t padding_near(uint64_t instruction, const struct map_query *text, unsigned size, uint64_t *image);

/* hot_site.c, site_entry.S: the registers of a call, in the order in which site_entry.S saves them. */
struct site_block {
    uint64_t mask;
    uint64_t next; /* the address at which the application goes on */
    long r10, rdx, rsi, rdi;
    long number; /* the call's number, then its result */
    long r8, r9, rbx;
    const uint64_t *stub; /* struct stub: next, raw, again */
    uint64_t unused;
};
extern uint8_t site_calls[SITE_CALLS];
void sites_take_traps(void);
void hot_site_trapped(const struct process *process, long number, uint64_t instruction);
void site_call(struct site_block *block);
void site_entry(void);

/* init.c */
bool shim_begin(char **argv, char **environment);

/* injected.c, injected_entry.S */
void injected_entry(void);
uint64_t injected_place(const uint8_t *flat, int library);
uint64_t *injected_start(uint64_t *stack, void *flat, size_t size, int library);

/* addresses.c */
bool addresses_have_chance(void);
bool addresses_take(uint64_t *stack);
uint64_t *addresses_move_stack(uint64_t *stack);
void addresses_keep_break(struct process *process);

/* preempt.c */
void preempted(struct thread *thread, struct ucontext *context);

/* preload.c */
void preload_start(void);

/* vdso.c */
void vdso_patch(uint64_t base);

#endif
