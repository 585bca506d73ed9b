/* The boxes: memory shared with the server, for requests of Remote SimGrid and their answers (rsg_protocol.h).
 *
 * A process maps them when its first operation has been answered, over its channel. Without boxes all operations go
 * over channels.
 */
#include "shim/sys/rsg/rsg.h"

#define ALL_BYTES ((uint64_t)SIMUNIX_SLOTS * SIMUNIX_RSG_BOX_BYTES)

_Static_assert(sizeof(struct simunix_rsg_box) == SIMUNIX_RSG_BOX_BYTES, "the layout that the server reads");
_Static_assert(SIMUNIX_RSG_BOXES_OFFSET ==
                   SIMUNIX_COST_OFFSET + SIMUNIX_COST_PROGRAMS * SIMUNIX_COST_POINTS * sizeof(struct simunix_cpu_cost),
               "the offset");
_Static_assert(sizeof((struct simunix_rsg_box *)0)->bytes >= SIMUNIX_RSG_REQUEST_MAX, "the room");
_Static_assert(sizeof((struct simunix_rsg_box *)0)->bytes >= SIMUNIX_RSG_ANSWER_MAX, "the room");

static struct simunix_rsg_box *const boxes = (void *)0x210000000;

/* Map the boxes at an address where nothing else is mapped: another place for other mappings would change their
 * alignment, and so the calls that allocators make. The boxes are not mapped if the process may not have so much
 * address space, or if the server may not make so long a file. */
void boxes_map(struct process *process)
{
    int file = descriptor_number(process, process->descriptors.page_file);
    struct stat status;
    long result;

    process->boxes = BOXES_REFUSED;
    if (NATIVE(fstat, file, &status) != 0 || (uint64_t)status.st_size < SIMUNIX_RSG_BOXES_OFFSET + ALL_BYTES)
        return;
    result = NATIVE(mmap, boxes, ALL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file,
                    SIMUNIX_RSG_BOXES_OFFSET);
    if (result == (long)boxes)
        process->boxes = BOXES_MAPPED;
}

struct simunix_rsg_box *box_of(const struct thread *thread)
{
    return thread->process->boxes == BOXES_MAPPED ? &boxes[thread->link.slot % SIMUNIX_SLOTS] : NULL;
}
