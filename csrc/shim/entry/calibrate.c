/* Measures how much more CPU time a call takes under simunix than natively, at the start of a run under the CPU policy
 * charged. The additional time is not charged to programs (turn/cpu_charge.c).
 *
 * The run's first image makes a cheap call natively, trapped and preloaded, in some batches, and takes the fastest
 * batch of each: other activity of the computer can only make a batch slower. The number of calls is always the same,
 * so that a replay makes the same calls, and it is too small for the instruction to be rewritten (entry/hot_site.c). */
#include "shim/core/clock.h"
#include "shim/entry/entry.h"
#include "shim/turn/turn.h"

#define BATCHES 10
#define CALLS 10

/* Functions of libc, as programs call them: their system calls trap, and their clock reads go to the vDSO. */
#define OF_LIBC __attribute__((weak, visibility("default")))
extern long syscall(long number, ...) OF_LIBC;
extern int clock_gettime(int clock_id, struct kernel_timespec *time) OF_LIBC;
extern long time(long *seconds) OF_LIBC;

enum way { NATIVELY, TRAPPED, PRELOADED, CLOCK_READ, COARSE_READ };

/* How long (ns) a clock read takes natively in the vDSO, measured on a virtual machine of 2026. A coarse clock read
 * does not read the time stamp counter: slurmctld calls time(2) 12,000 times in a scheduler's pass of 3 ms. */
#define NATIVE_READ_NS 25
#define NATIVE_COARSE_NS 3

static void call_once(enum way way)
{
    struct kernel_timespec moment;

    if (way == CLOCK_READ)
        clock_gettime(CLOCK_MONOTONIC, &moment);
    else if (way == COARSE_READ)
        time(NULL);
    else if (way == NATIVELY)
        NATIVE(getppid);
    else if (way == TRAPPED)
        syscall(__NR_getppid);
    else
        preload_answer(__NR_getppid);
}

/* Return the cycles of the fastest batch. */
static uint64_t fastest(enum way way)
{
    uint64_t best = UINT64_MAX;

    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begun = cycles_now();

        for (int call = 0; call < CALLS; call++)
            call_once(way);
        begun = cycles_now() - begun;
        if (begun < best)
            best = begun;
    }
    return best;
}

static uint64_t added_ns(struct thread *thread, enum way way, uint64_t native)
{
    uint64_t cycles = fastest(way);

    return cycles <= native ? 0 : (cycles - native) / CALLS * thread->process->page->tsc_ns >> 32;
}

static uint64_t above(uint64_t ns, uint64_t native_ns)
{
    return ns < native_ns ? 0 : ns - native_ns;
}

/* Measure all ways. A program without libc that is the first one of a run measures nothing; the overhead counts as
 * computing then. */
void calibrate(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t native = fastest(NATIVELY);

    if (syscall == NULL || clock_gettime == NULL || time == NULL)
        return;
    thread->policy.is_charged = thread->policy.is_measured = false;
    page->trap_overhead_ns = added_ns(thread, TRAPPED, native);
    page->preload_overhead_ns = added_ns(thread, PRELOADED, native);
    thread->policy.is_charged = thread->policy.is_measured = true;
    charge_begin(thread); /* the measured clock reads include the shim's code that charges them */
    page->read_overhead_ns = above(added_ns(thread, CLOCK_READ, 0), NATIVE_READ_NS);
    page->coarse_overhead_ns = above(added_ns(thread, COARSE_READ, 0), NATIVE_COARSE_NS + page->read_overhead_ns);
}
