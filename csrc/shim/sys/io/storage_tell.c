/* Requests of a thread to the server about storages, and waits for storages. The files that handle calls on storages
 * (storage.c, stored_names.c, mapped.c, touched.c) call these functions, which call none of those files. */
#include "shim/core/channel.h"
#include "shim/sys/io/mapped.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/turn/turn.h"

#define AS_SAID 2 /* the third number of PARK_STORAGE */

/* Return whether a storage may refuse a call: it has a capacity, or some storage is read-only, full or failing. */
bool storage_may_refuse(const struct call *call, const struct stored_mount *mount)
{
    return (mount->flags & STORED_LIMITED) != 0 || call->thread->process->page->storage_conditions != 0;
}

/* Return the number of bytes for which there is room; -errno if nothing can be written. */
int64_t storage_room(struct call *call, const struct stored_mount *mount, int64_t wanted)
{
    struct reply reply;

    if (!storage_may_refuse(call, mount) ||
        ASK(call->thread, &reply, OP_STORAGE, STORAGE_ROOM, mount->storage, 1UL, 0UL, wanted, 0UL) != 0)
        return wanted;
    return reply_number(&reply, 1);
}

/* Wait for the storage; return 0 or -errno. */
long storage_wait(struct call *call, const struct stored_mount *mount, uint64_t bytes, uint64_t what)
{
    struct wait wait = {.kind = PARK_STORAGE, .deadline = NEVER, .a = mount->storage, .b = bytes, .c = what};

    do {
        park(call, &wait);
        wait.b = (uint64_t)wait.value;
    } while (wait.value > 0 && what != AS_SAID);
    return wait.value < 0 ? wait.value : 0;
}

/* Tell the server what was done to bytes of a file, and wait if that takes time; return 0 or -errno. */
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

/* Tell the server what is done to bytes of a file whose status is known, and wait as it says. Synced pages are clean
 * from then on. */
long storage_tell(struct call *call, const struct stored_mount *mount, enum simunix_storage what, const struct statx *status,
                  int64_t offset, uint64_t bytes)
{
    struct file_bytes told = {stored_file_number(stored_device(status), status->stx_ino), offset, bytes, status->stx_size};

    if (what == STORAGE_SYNC || what == STORAGE_ALL)
        mapped_are_clean(call->thread->process, what == STORAGE_SYNC ? told.file : 0);
    return storage_tell_of(call, mount, what, &told);
}
