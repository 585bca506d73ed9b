/* Room sys/rsg: the call by which programs use Remote SimGrid.
 *
 * The room carries requests and answers, and knows no operation: csrc/rsg/ writes the requests, rsg_server/rsg/ carries them
 * out. May call turn and below, and no other family.
 */
#ifndef SIMUNIX_SYS_RSG_H
#define SIMUNIX_SYS_RSG_H

#include "shared/wire/rsg_protocol.h"
#include "shim/core/core.h"

long rsg_call(struct call *call, struct simunix_rsg_call *told);

/* box.c */
void boxes_map(struct process *process);
struct simunix_rsg_box *box_of(const struct thread *thread); /* NULL if the process has none mapped */

#endif
