/* Moves the floor above which the shim's own descriptors are up, when the application needs a number that lies there.
 *
 * The floor is not at the application's limit from the start, since the kernel's table of a process is as long as the
 * highest descriptor number in it.
 */
#include "shim/core/channel.h"

#define PLACES_MAX 4096 /* the number of descriptors above the floor: two or three for each thread */

static void move_own(struct process *process, int by)
{
    for (int place = PLACES_MAX - 1; place >= 0; place--) {
        int number = process->descriptors.floor + place;

        if (NATIVE(fcntl, number, F_GETFD, 0) < 0)
            continue;
        NATIVE(dup3, number, number + by, O_CLOEXEC);
        descriptor_note(number + by);
        NATIVE(close, number);
    }
    if (process->ids.proc > 0)
        process->ids.proc += by;
    process->descriptors.floor += by;
}

/* Let the application use the descriptor number `wanted`, if the application's limit allows it, by moving the floor up.
 * Returns true if the floor has moved, so that a refused call can be made again. */
bool descriptors_reach(struct call *call, uint64_t wanted)
{
    struct process *process = call->thread->process;
    uint64_t floor = (uint64_t)process->descriptors.floor;
    uint64_t ceiling, before;
    uint64_t all = SIGNALS_ALL;
    struct reply reply;

    if (wanted < floor || wanted >= process->descriptors.soft || process->descriptors.are_shared)
        return false;
    ceiling = descriptors_hard() - PLACES_MAX;
    if (ceiling > process->descriptors.soft)
        ceiling = process->descriptors.soft;
    if (wanted >= ceiling)
        return false;
    while (floor <= wanted)
        floor *= 2;
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8); /* here signals may be unblocked (preload net) */
    descriptors_raise();
    move_own(process, (int)(floor < ceiling ? floor : ceiling) - process->descriptors.floor);
    descriptors_limit(process);
    ASK(call->thread, &reply, OP_NOFILE, (int64_t)process->descriptors.soft, (int64_t)process->descriptors.hard,
        process->descriptors.floor);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
    return true;
}

/* Return whether a call that was refused for lack of a descriptor (-EMFILE) can be made again, after moving the floor up. */
bool descriptors_grow(struct call *call)
{
    return descriptor_is_free(call) != 0 && descriptors_reach(call, (uint64_t)call->thread->process->descriptors.floor);
}
