/* What a call costs under simunix above its native cost, measured at the start of a run under the CPU policy charged: it is no
 * computing of the program's (turn/cpu_charge.c).
 *
 * The run's first image makes a cheap call natively, trapped and preloaded, in some batches, and takes the fastest batch of
 * each: what the computer does besides can only make a batch slower. The number of calls is always the same, so that a replay
 * makes them too, and too small for the instruction to be rewritten (entry/hot_site.c).
 */
#include "shim/core/clock.h"
#include "shim/entry/entry.h"
#include "shim/turn/turn.h"

#define BATCHES 10
#define CALLS 10

extern long syscall(long number, ...) __attribute__((weak, visibility("default"))); /* libc's: its instruction traps */

enum way { NATIVELY, TRAPPED, PRELOADED, CLOCK_READ };

#define NATIVE_READ_NS 25 /* what a clock read takes where the vDSO answers it, measured on a virtual machine of 2026 */

static void call_once(struct thread *thread, enum way way)
{
    if (way == CLOCK_READ)
        clock_read(thread, CLOCK_MONOTONIC);
    else if (way == NATIVELY)
        NATIVE(getppid);
    else if (way == TRAPPED)
        syscall(__NR_getppid);
    else
        preload_answer(__NR_getppid);
}

/* Cycles of the fastest batch. */
static uint64_t fastest(struct thread *thread, enum way way)
{
    uint64_t best = UINT64_MAX;

    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begun = cycles_now();

        for (int call = 0; call < CALLS; call++)
            call_once(thread, way);
        begun = cycles_now() - begun;
        if (begun < best)
            best = begun;
    }
    return best;
}

static uint64_t added_ns(struct thread *thread, enum way way, uint64_t native)
{
    uint64_t cycles = fastest(thread, way);

    return cycles <= native ? 0 : (cycles - native) / CALLS * thread->process->page->tsc_ns >> 32;
}

/* A program without a libc, whose first image was injected, measures nothing: the overhead counts as computing then. */
void calibrate(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t native = fastest(thread, NATIVELY);

    if (syscall == NULL)
        return;
    thread->is_charged = thread->is_measured = false;
    page->trap_overhead_ns = added_ns(thread, TRAPPED, native);
    page->preload_overhead_ns = added_ns(thread, PRELOADED, native);
    thread->is_charged = thread->is_measured = true;
    charge_begin(thread); /* clock reads do their part of the charging, too */
    page->read_overhead_ns = added_ns(thread, CLOCK_READ, 0);
    page->read_overhead_ns -= page->read_overhead_ns < NATIVE_READ_NS ? page->read_overhead_ns : NATIVE_READ_NS;
}
