/* Watchpoints and hardware breakpoints of a tracer, without the hardware: only the kernel's own ptrace could set debug
 * registers. While some are set, the thread runs instruction by instruction (the trap flag), and the shim compares.
 *
 * Memory that the kernel writes for the thread is compared after the call. Reads cannot be seen, so watchpoints for
 * reads are refused (sys/process/ptrace.c). */
#include "shim/core/memory.h"
#include "shim/turn/tracee.h"

#define PLACES 4

/* Return whether a place is used. Debug register 7 has two bits for each place that say so, and, from bit 16 on, four
 * bits for each place that give the kind and the size of the watched memory. */
static bool is_set(const struct tracee *tracee, int place)
{
    return (tracee->debug[7] >> 2 * place & 3) != 0;
}

static unsigned kind_of(const struct tracee *tracee, int place)
{
    return (unsigned)(tracee->debug[7] >> (16 + 4 * place)) & 3;
}

static uint64_t value_at(const struct thread *thread, int place)
{
    static const uint8_t sizes[] = {1, 2, 8, 4};
    uint64_t value = 0;
    struct iovec here = {&value, sizes[thread->tracee.debug[7] >> (18 + 4 * place) & 3]};
    struct iovec there = {(void *)thread->tracee.debug[place], here.iov_len};

    NATIVE(process_vm_readv, thread->process->ids.pid, &here, 1, &there, 1, 0);
    return value;
}

bool watchpoints_are_set(const struct thread *thread)
{
    return (thread->tracee.debug[7] & 0xff) != 0;
}

/* Record the values at the watched addresses, because the thread goes on. */
void watchpoints_begin(struct thread *thread)
{
    for (int place = 0; place < PLACES; place++)
        if (is_set(&thread->tracee, place) && kind_of(&thread->tracee, place) == WATCH_WRITE)
            thread->tracee.watched[place] = value_at(thread, place);
}

/* Return whether the instruction before `next` has changed a watched value, or `next` itself is watched. Debug register
 * 6 then says which watchpoint it was. */
bool watchpoints_hit(struct thread *thread, uint64_t next)
{
    struct tracee *tracee = &thread->tracee;
    uint64_t hit = 0;

    for (int place = 0; place < PLACES; place++) {
        if (!is_set(tracee, place))
            continue;
        if (kind_of(tracee, place) == WATCH_EXECUTION) {
            hit |= (uint64_t)(tracee->debug[place] == next) << place;
        } else {
            uint64_t value = value_at(thread, place);

            hit |= (uint64_t)(value != tracee->watched[place]) << place;
            tracee->watched[place] = value;
        }
    }
    tracee->debug[6] |= hit;
    return hit != 0;
}
