/* What simunix adds to prctl(2), for programs that know that they are emulated. Elsewhere the kernel says EINVAL.
 *
 *     prctl(PR_SIMUNIX_COMPUTE, uint64_t *flops)
 *
 * computes on the emulated host: it returns when its cores have done so many flops for the caller, sharing them fairly with all
 * that compute there (rsg_server/processor/ has the formula). A signal handler ends it early with EINTR; *flops is what is
 * left.
 *
 *     prctl(PR_SIMUNIX_MACHINES, char *text, size_t room)
 *
 * asks for what the machine room does outside of its hosts: hosts go off and on, power states change, meters are read. `text`
 * is the request, and becomes the answer (rsg_server/handlers/machines.py has both). Returns the answer's length; EINVAL: the
 * answer says why not.
 *
 *     prctl(PR_SIMUNIX_RSG, struct simunix_rsg_call *call)
 *
 * is one operation of Remote SimGrid: rsg_protocol.h. */
#ifndef SIMUNIX_PRCTL_OPTIONS_H
#define SIMUNIX_PRCTL_OPTIONS_H

#define PR_SIMUNIX_COMPUTE 0x53494d01
#define PR_SIMUNIX_MACHINES 0x53494d02
#define PR_SIMUNIX_RSG 0x53494d03

#endif
