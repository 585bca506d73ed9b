/* The table of costs: how long programs compute before their system calls and clock reads. Under the CPU policy
 * charged, the shim adds measured times to the table, for `simunix calibrate`; under the policy modelled, the shim
 * reads the times, and does not measure. The table is in memory shared with the server, with a row for each program. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/turn/turn.h"

#define TABLE_BYTES (SIMUNIX_COST_PROGRAMS * SIMUNIX_COST_POINTS * sizeof(struct simunix_cpu_cost))

_Static_assert(SIMUNIX_COST_OFFSET == SIMUNIX_SHARED_BYTES + SIMUNIX_TRAP_PLACES * sizeof(struct simunix_trap_place),
               "the offset");
_Static_assert(SIMUNIX_COST_POINTS == SIMUNIX_COST_CALLS + SIMUNIX_COST_PLACES, "the row");

static struct simunix_cpu_cost (*const table)[SIMUNIX_COST_POINTS] = (void *)0x200400000;

/* Map the table of costs at an address where nothing else is mapped: another place for other mappings would change
 * their alignment, and so the calls that allocators make. If there is no room, the computing of this process is not in
 * the table, and under the policy modelled takes no time. */
void costs_map(struct process *process, int64_t row)
{
    int file = descriptor_number(process, process->descriptors.page_file);
    long result;

    process->cpu.costs = process->main->policy.costs = NULL;
    if (row < 0 || row >= SIMUNIX_COST_PROGRAMS)
        return;
    result =
        NATIVE(mmap, table, TABLE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, SIMUNIX_COST_OFFSET);
    if (result == (long)table)
        process->cpu.costs = process->main->policy.costs = table[row];
}

/* Return the column of the table for a system call; -1 for a number that Linux does not have. */
long cost_point_of_call(long number)
{
    return number >= 0 && number < SIMUNIX_COST_IMAGE ? number : -1;
}

/* Return the column of the table for a clock read at a place of the program. Each place has costs of its own: a program
 * that schedules reads the clock at one place before, and at another after, what takes long. */
long cost_point_of_read(const void *caller)
{
    return SIMUNIX_COST_CALLS + (long)((uintptr_t)caller & (SIMUNIX_COST_PLACES - 1));
}

static struct simunix_cpu_cost *cost_at(const struct thread *thread, long point)
{
    return thread->policy.costs != NULL && point >= 0 ? &thread->policy.costs[point] : NULL;
}

void cost_add(const struct thread *thread, long point, uint64_t calls, int64_t ns)
{
    struct simunix_cpu_cost *cost = cost_at(thread, point);

    if (cost != NULL) {
        cost->calls += calls;
        cost->ns += ns;
    }
}

/* Use the row of the table for a thread's name: the threads of a daemon have names and different tasks, and so a row
 * for each name. */
void costs_of_name(struct thread *thread, const char *name)
{
    struct msgpack_writer writer;
    struct reply reply;

    if (thread->process->cpu.costs == NULL)
        return;
    request_start(thread, &writer, OP_COST_ROW);
    msgpack_put_bytes(&writer, name, text_length(name));
    if (request_call(thread, &writer, &reply) == 0)
        thread->policy.costs = reply_number(&reply, 1) < 0 ? NULL : table[reply_number(&reply, 1)];
}

int64_t cost_of(const struct thread *thread, long point)
{
    const struct simunix_cpu_cost *cost = cost_at(thread, point);

    if (cost != NULL && cost->calls == 0 && point >= SIMUNIX_COST_CALLS)
        cost = &thread->policy.costs[SIMUNIX_COST_CLOCK_READ];
    return cost != NULL ? cost->ns : 0;
}
