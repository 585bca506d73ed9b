/* What a call costs under simunix above its native cost, measured at the start of a run under the CPU policy charged: it is no
 * computing of the program's (turn/cpu_charge.c).
 *
 * The run's first image makes a cheap call natively, trapped and preloaded, in some batches, and takes the fastest batch of
 * each: what the computer does besides can only make a batch slower. The number of calls is always the same, so that a replay
 * makes them too, and too small for the instruction to be rewritten (entry/hot_site.c).
 */
#include "shim/core/clock.h"
#include "shim/entry/entry.h"

#define BATCHES 10
#define CALLS 10

extern long syscall(long number, ...) __attribute__((weak, visibility("default"))); /* libc's: its instruction traps */

enum way { NATIVELY, TRAPPED, PRELOADED };

static void call_once(enum way way)
{
    if (way == NATIVELY)
        NATIVE(getppid);
    else if (way == TRAPPED)
        syscall(__NR_getppid);
    else
        preload_answer(__NR_getppid);
}

/* Cycles of the fastest batch. */
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

static uint64_t added_ns(const struct simunix_clock_page *page, enum way way, uint64_t native)
{
    uint64_t cycles = fastest(way);

    return cycles <= native ? 0 : (cycles - native) / CALLS * page->tsc_ns >> 32;
}

/* A program without a libc, whose first image was injected, measures nothing: the overhead counts as computing then. */
void calibrate(struct thread *thread)
{
    struct simunix_clock_page *page = thread->process->page;
    uint64_t native = fastest(NATIVELY);

    if (syscall == NULL)
        return;
    thread->is_charged = false;
    page->trap_overhead_ns = added_ns(page, TRAPPED, native);
    page->preload_overhead_ns = added_ns(page, PRELOADED, native);
    thread->is_charged = true;
}
