/* Decides by how much timed waits end late in a perturbed run. Without lateness, a daemon that computes in no time and
 * sleeps to the nanosecond would have cycles on an exact grid, unlike real daemons.
 *
 * Each wait ends late by a random time between 0 and twice `late_ns`, as timers of Linux do. A wait of a second or more
 * ends late by another random time between 0 and twice `late_cycle_ns`, which stands for the daemon's computing in the
 * cycle before. Each thread has its own random numbers, which follow from the seed of the run and the thread's number
 * on its host, so other threads have no influence on them. */
#include "shim/core/clock.h"
#include "shim/turn/turn.h"

#define CYCLE_NS 1000000000

static uint64_t draw(struct thread *thread)
{
    if (thread->pace.late_state == 0)
        thread->pace.late_state = thread->process->page->late_seed ^ random_mix((uint64_t)thread->ids.host_tid);
    thread->pace.late_state = random_mix(thread->pace.late_state);
    return thread->pace.late_state;
}

static int64_t up_to_twice(struct thread *thread, uint64_t mean_ns)
{
    return mean_ns == 0 ? 0 : (int64_t)(draw(thread) % (2 * mean_ns + 1));
}

int64_t later(struct thread *thread, int64_t deadline)
{
    const struct simunix_clock_page *page = thread->process->page;
    int64_t late_ns;

    if (deadline == NEVER || deadline <= (int64_t)page->now_ns)
        return deadline;
    late_ns = up_to_twice(thread, page->late_ns);
    if (deadline - (int64_t)page->now_ns >= CYCLE_NS)
        late_ns += up_to_twice(thread, page->late_cycle_ns);
    return deadline + late_ns;
}
