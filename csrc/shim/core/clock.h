/* Clocks and moments, read from the clock page without a price. A clock read of the application has a price: turn/price.c. */
#ifndef SIMUNIX_CLOCK_H
#define SIMUNIX_CLOCK_H

#include "shim/core/core.h"

bool clock_is_known(int clock_id);
bool clock_lacks_timers(int clock_id);
bool clock_is_real(int clock_id);
bool clock_is_coarse(int clock_id); /* returns whether the clock counts in the kernel's ticks */
bool clock_is_cpu(int clock_id);
int64_t clock_offset(const struct process *process, int clock_id);
int64_t clock_after(struct thread *thread, int64_t duration_ns);
int64_t clock_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute);
long clock_read_deadline(struct thread *thread, int clock_id, const struct kernel_timespec *time, bool absolute,
                         int64_t *deadline);
bool is_valid_time(const struct kernel_timespec *time);

/* Return the processor's time stamp counter, which only threads under the CPU policy charged may read (sys/time/tsc.c). */
static inline uint64_t cycles_now(void)
{
    uint32_t low, high;

    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/* Return the CPU time (ns) that simunix has added to all threads so far, for calls and clock reads. While a thread has
 * the turn, only the calls of this thread add to this time. */
static inline uint64_t overhead_ns(const struct simunix_clock_page *page)
{
    return page->traps * page->trap_overhead_ns + page->preloaded * page->preload_overhead_ns +
           page->clock_reads * page->read_overhead_ns + page->coarse_reads * page->coarse_overhead_ns;
}

/* The state at the beginning of a pause: a thread waits for the server's answer, or is stopped. CPU time of the
 * computer during the pause is not charged to the thread (CPU policy charged). The virtual time that passes is not a
 * price of the thread's calls, and calls of other threads add nothing to its overhead. */
struct pause {
    uint64_t cycles;
    uint64_t now_ns;
    uint64_t overhead_ns;
};

static inline struct pause pause_begins(const struct thread *thread)
{
    const struct simunix_clock_page *page = thread->process->page;

    return thread->policy.is_measured ? (struct pause){cycles_now(), page->now_ns, overhead_ns(page)} : (struct pause){0};
}

static inline void pause_ends(struct thread *thread, struct pause pause)
{
    const struct simunix_clock_page *page = thread->process->page;

    if (thread->policy.is_measured) {
        thread->charge.cycles_since += cycles_now() - pause.cycles;
        thread->charge.now_since += page->now_ns - pause.now_ns;
        thread->charge.overhead_since += overhead_ns(page) - pause.overhead_ns;
    }
}

static inline struct timeval to_timeval(uint64_t time_ns)
{
    return (struct timeval){.tv_sec = (long)(time_ns / SECOND_NS), .tv_usec = (long)(time_ns % SECOND_NS / 1000)};
}

static inline struct kernel_timespec to_timespec(int64_t nanoseconds)
{
    return (struct kernel_timespec){nanoseconds / SECOND_NS, nanoseconds % SECOND_NS};
}

#endif
