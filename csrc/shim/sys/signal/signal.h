/* Room sys/signal: actions, masks, alternate stacks, faults, sending and waiting.
 *
 * The invariant: no code of the application runs on the shim's own stack, on which the kernel enters the shim
 * (SIGSYS, and every signal whose action is the shim's here). So the kernel never knows the application's alternate
 * stack. The application's alternate stack may have any size, and may be replaced, disabled and unmapped in any order.
 * The shim copies the
 * frame of a handler onto it, or onto the stack that was interrupted (frame.c). May call sys/time, strace, turn and
 * below.
 */
#ifndef SIMUNIX_SYS_SIGNAL_H
#define SIMUNIX_SYS_SIGNAL_H

#include "shim/core/core.h"

/* Signals of faults, which the shim's own code may cause when it uses the application's memory. */
#define SIGNALS_OF_FAULTS (SIGNAL_BIT(SIGSEGV) | SIGNAL_BIT(SIGBUS))

/* Signals that the kernel sends to a thread in the midst of its own code, for a mistake or a trap instruction in it. */
#define SIGNALS_OF_TRAPS (SIGNAL_BIT(SIGTRAP) | SIGNAL_BIT(SIGILL) | SIGNAL_BIT(SIGFPE))

/* action.c */
void actions_start(struct process *process);
void actions_release(const struct process *process);
void actions_take_back(void);
void action_release_held(struct thread *thread);
uint64_t action_watched(int signal, const siginfo_t *info);
const struct handler_entry *action_enter(struct thread *thread, int signal, const siginfo_t *info, struct ucontext *context);

/* fault.c */
bool fault_answered(struct thread *thread, struct ucontext *context);

/* frame.c */
const struct handler_entry *frame_prepare(struct thread *thread, int signal, struct ucontext *context,
                                          const struct kernel_sigaction *action);

/* alternate_stack.c */
bool alternate_is_used(const struct thread *thread, uint64_t stack_pointer);
long alternate_set(struct thread *thread, const stack_t *wanted, uint64_t stack_pointer);

/* frame_entry.S */
void signal_entry(void);
void signal_watch(void);
_Noreturn void handler_enter(const struct handler_entry *entry);
_Noreturn void frame_return(struct ucontext *context);

#endif
