/* Rights over devices, which a user namespace below the host's own does not give; see capabilities(7). */
#include "shim/core/memory.h"
#include "shim/sys/device/device.h"

#define CAPABILITY_VERSION_3 0x20080522
#define NAMESPACE_ROOM 64

/* Without /proc there is nothing to compare. */
static bool is_in_host_namespace(const struct process *process)
{
    char own[NAMESPACE_ROOM], hosts[NAMESPACE_ROOM];
    long folder = process->ids.proc > 0 ? process->ids.proc : NATIVE(openat, AT_FDCWD, "/proc", O_PATH | O_CLOEXEC, 0);
    long size;

    if (folder < 0)
        return true;
    size = NATIVE(readlinkat, folder, "self/ns/user", own, sizeof own);
    if (size > 0 && NATIVE(readlinkat, folder, "1/ns/user", hosts, sizeof hosts) != size)
        size = 0;
    if (folder != process->ids.proc)
        NATIVE(close, folder);
    return size > 0 && memcmp(own, hosts, (size_t)size) == 0;
}

/* Return whether the thread has a capability over its host. Hosts' programs begin without some (hostinit/setup/seal.c):
 * if no thread can have the capability, a thread that has the other capability counts as having it. */
bool has_host_capability(unsigned capability, unsigned otherwise)
{
    struct {
        uint32_t version;
        int32_t pid;
    } header = {.version = CAPABILITY_VERSION_3};
    struct {
        uint32_t effective, permitted, inheritable;
    } sets[2] = {{0}};
    bool is_sealed = NATIVE(prctl, PR_CAPBSET_READ, capability, 0, 0, 0) == 0;

    return NATIVE(capget, &header, sets) == 0 && (sets[0].effective >> (is_sealed ? otherwise : capability) & 1) != 0 &&
           is_in_host_namespace(current_thread()->process);
}
