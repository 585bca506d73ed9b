/* What a thread tells the server of storages, and its waits for them. All files that see something happen on a storage call
 * these functions (storage.c, stored_names.c, mapped.c, touched.c); these call none of them. */
#include "shim/core/channel.h"
#include "shim/sys/io/mapped.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/turn/turn.h"

#define AS_SAID 2 /* the third number of PARK_STORAGE */

/* Whether the storage of a call may say no: it has a capacity, or something is wrong with some storage. */
bool storage_may_refuse(const struct call *call, const struct stored_mount *mount)
{
    return (mount->flags & STORED_LIMITED) != 0 || call->thread->process->page->storage_conditions != 0;
}

/* How many bytes there is room for; -errno if nothing can be written. */
int64_t storage_room(struct call *call, const struct stored_mount *mount, int64_t wanted)
{
    struct reply reply;

    if (!storage_may_refuse(call, mount) ||
        ASK(call->thread, &reply, OP_STORAGE, STORAGE_ROOM, mount->storage, 1UL, 0UL, wanted, 0UL) != 0)
        return wanted;
    return reply_number(&reply, 1);
}

/* Wait for the storage; 0 or -errno. */
long storage_wait(struct call *call, const struct stored_mount *mount, uint64_t bytes, uint64_t what)
{
    struct wait wait = {.kind = PARK_STORAGE, .deadline = NEVER, .a = mount->storage, .b = bytes, .c = what};

    do {
        park(call, &wait);
        wait.b = (uint64_t)wait.value;
    } while (wait.value > 0 && what != AS_SAID);
    return wait.value < 0 ? wait.value : 0;
}

/* Tell the server what has become of bytes of a file, and wait if that takes time; 0 or -errno. */
long storage_tell_of(struct call *call, const struct stored_mount *mount, enum simunix_storage what,
                     const struct file_bytes *bytes)
{
    struct reply reply;
    int64_t value;

    if (ASK(call->thread, &reply, OP_STORAGE, what, mount->storage, bytes->file, bytes->offset, bytes->count, bytes->size) != 0)
        return 0;
    value = reply_number(&reply, 1);
    return value > 0 ? storage_wait(call, mount, 0, AS_SAID) : value;
}

/* Tell the server what is done to bytes of a file whose status is known, and wait as it says. What is synced is clean from
 * then on. */
long storage_tell(struct call *call, const struct stored_mount *mount, enum simunix_storage what, const struct statx *status,
                  int64_t offset, uint64_t bytes)
{
    struct file_bytes told = {stored_file_number(stored_device(status), status->stx_ino), offset, bytes, status->stx_size};

    if (what == STORAGE_SYNC || what == STORAGE_ALL)
        mapped_are_clean(call->thread->process, what == STORAGE_SYNC ? told.file : 0);
    return storage_tell_of(call, mount, what, &told);
}
