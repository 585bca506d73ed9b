/* The operations that simunix adds to prctl(2), for programs that know that they are emulated. Outside of simunix, the
 * kernel returns EINVAL for them.
 *
 *     prctl(PR_SIMUNIX_COMPUTE, uint64_t *flops)
 *
 * computes on the emulated host: the call returns when the host's cores have computed so many flops for the caller. The
 * cores are shared fairly among all that compute there (rsg_server/processor/ has the formula). A signal handler ends
 * the call early with EINTR; *flops is then the number of flops that are left.
 *
 *     prctl(PR_SIMUNIX_MACHINES, char *text, size_t room)
 *
 * switches hosts on and off, changes power states, and reads power meters, as an operator does from outside of the
 * hosts. `text` contains the request, and then the answer (rsg_server/handlers/machines.py describes both). The call
 * returns the answer's length; with EINVAL, the answer says why the request was refused.
 *
 *     prctl(PR_SIMUNIX_RSG, struct simunix_rsg_call *call)
 *
 * is one operation of Remote SimGrid: rsg_protocol.h.
 */
#ifndef SIMUNIX_PRCTL_OPTIONS_H
#define SIMUNIX_PRCTL_OPTIONS_H

#define PR_SIMUNIX_COMPUTE 0x53494d01
#define PR_SIMUNIX_MACHINES 0x53494d02
#define PR_SIMUNIX_RSG 0x53494d03

#endif
