/* Files below a mount on a storage: reads and writes take the time of the storage, and room on it.
 *
 * The kernel carries out the call first, and returns how many bytes have moved; then the thread waits, if the storage
 * has to do something for this. The server has the page cache of the host (rsg_server/storage/pages.py): the shim tells
 * the server which pages of which file were read or written, and the server answers whether the thread has to wait.
 * Files that were opened with O_DIRECT, and all files on a mount without cache, bypass the page cache. No signal ends
 * the wait, as on Linux no signal ends a wait for a disk (signal(7)), so the result of the call does not change. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/io/mapped.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/turn/turn.h"

#define PARTS_MAX 1024
#define BLOCK_BYTES 4096 /* files take whole blocks: rsg_server/storage/room.py */
#define MOST_BYTES 0x7ffff000L
#define MOST_OFFSET (1UL << 62)
#define SEEK_CUR 1
#define SYNC_FILE_RANGE_WRITE 2
#define SYNC_FILE_RANGE_WAIT_AFTER 4
#define RWF_SYNCS 6 /* RWF_DSYNC, RWF_SYNC */
#define RWF_APPEND 16

enum where { AT_POSITION, AT_OFFSET, AT_POINTER };

/* The place of the argument with the descriptor (1 for the first, 0 for none), and of the argument with the offset. */
struct side {
    uint8_t fd, offset;
    uint8_t where; /* enum where */
};

/* The descriptors from which a call reads and to which it writes; and which argument has the number of bytes to write,
 * or the array of parts. */
struct row {
    uint16_t number;
    struct side read, written;
    uint8_t size;
    bool has_parts;
    bool syncs; /* the call moves no bytes, but has written bytes brought to the storage */
};

static const struct row rows[] = {
    {__NR_read, .read = {1}},
    {__NR_write, .written = {1}, .size = 3},
    {__NR_pread64, .read = {1, 4, AT_OFFSET}},
    {__NR_pwrite64, .written = {1, 4, AT_OFFSET}, .size = 3},
    {__NR_readv, .read = {1}},
    {__NR_writev, .written = {1}, .size = 3, .has_parts = true},
    {__NR_sendfile, .read = {2, 3, AT_POINTER}, .written = {1}, .size = 4},
    {__NR_fsync, .written = {1}, .syncs = true},
    {__NR_fdatasync, .written = {1}, .syncs = true},
    {__NR_sync, .syncs = true},
    {__NR_splice, .read = {1, 2, AT_POINTER}, .written = {3, 4, AT_POINTER}, .size = 5},
    {__NR_sync_file_range, .written = {1}, .syncs = true},
    {__NR_fallocate, .written = {1, 3, AT_OFFSET}, .size = 4},
    {__NR_preadv, .read = {1, 4, AT_OFFSET}},
    {__NR_pwritev, .written = {1, 4, AT_OFFSET}, .size = 3, .has_parts = true},
    {__NR_syncfs, .written = {1}, .syncs = true},
    {__NR_copy_file_range, .read = {1, 2, AT_POINTER}, .written = {3, 4, AT_POINTER}, .size = 5},
    {__NR_preadv2, .read = {1, 4, AT_OFFSET}},
    {__NR_pwritev2, .written = {1, 4, AT_OFFSET}, .size = 3, .has_parts = true},
};

static const struct row *row_of(long number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return &rows[i];
    return NULL;
}

/* Return whether a call moves bytes of files, or concerns files on storages in another way. The function is called only
 * on hosts with storages. */
bool storage_concerns(const struct call *call)
{
    return row_of(call->number) != NULL || stored_name_concerns(call->number) || mapped_concerns(call);
}

/* Room */

/* Return whether a call writes at the end of its file, whatever its offset. On Linux, pwrite(2) with O_APPEND does so
 * as well. */
static bool appends(const struct call *call, const struct side *side)
{
    if (call->number == __NR_pwritev2 && (call->a[5] & RWF_APPEND) != 0)
        return true;
    return call->number != __NR_fallocate && (NATIVE(fcntl, call->a[side->fd - 1], F_GETFL, 0) & O_APPEND) != 0;
}

/* Return the offset at which a call is about to write; -1 if it is unknown. */
static int64_t write_position(const struct call *call, const struct side *side, const struct statx *status)
{
    long fd = call->a[side->fd - 1];
    long given = side->where == AT_POSITION ? 0 : call->a[side->offset - 1];

    if (side->where == AT_POINTER && given != 0)
        return is_bad_pointer((void *)given) ? -1 : *(int64_t *)given;
    if (appends(call, side))
        return (int64_t)status->stx_size;
    if (side->where == AT_OFFSET && given != -1)
        return given;
    return NATIVE(lseek, fd, 0, SEEK_CUR);
}

static int64_t write_size(const struct call *call, const struct row *row)
{
    const struct iovec *iov = (void *)call->a[1];
    int64_t total = 0;

    if (!row->has_parts)
        return call->a[row->size - 1] < 0 || call->a[row->size - 1] > MOST_BYTES ? MOST_BYTES : call->a[row->size - 1];
    for (long i = 0; !is_bad_pointer(iov) && i < call->a[row->size - 1] && i < PARTS_MAX; i++)
        total += (int64_t)iov[i].iov_len;
    return total;
}

static int64_t whole_blocks(int64_t bytes)
{
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
}

/* Before a call that may write: return 0, or -ENOSPC if the storage has no room for even one byte. A call for which
 * there is room only in part is shortened, as write(2) describes; fallocate(2) and calls with several parts are carried
 * out whole or not at all. */
__attribute__((cold)) long storage_admit(struct call *call)
{
    const struct row *row = row_of(call->number);
    const struct stored_mount *mount;
    struct statx status;
    int64_t position, size, wanted, most;

    mapped_look(call);
    if (stored_name_concerns(call->number) && (most = stored_name_admit(call)) != 0)
        return most;
    if (row == NULL || row->size == 0 || (call->number == __NR_fallocate && call->a[1] != 0))
        return 0;
    mount = stored_mount_of(call->thread->process, call->a[row->written.fd - 1], "", &status);
    if (mount == NULL || !storage_may_refuse(call, mount))
        return 0;
    position = write_position(call, &row->written, &status);
    size = write_size(call, row);
    wanted = whole_blocks(position + size) - whole_blocks((int64_t)status.stx_size);
    most = storage_room(call, mount, position < 0 || wanted < 0 ? 0 : wanted);
    if (most < 0)
        return most;
    most += whole_blocks((int64_t)status.stx_size) - position;
    if (position < 0 || wanted <= 0 || most >= size)
        return 0;
    if (most <= 0 || row->has_parts || call->number == __NR_fallocate)
        return -ENOSPC;
    call->a[row->size - 1] = most;
    return 0;
}

/* Handle a write for which the kernel had no room, although the storage has: then the disk of this computer with the
 * run's files is full. The program would take this for a full disk of its host, so the server ends the run. If another
 * disk is full, the program gets the error. */
__attribute__((cold)) void storage_no_room(struct call *call)
{
    const struct row *row = row_of(call->number);
    struct statx status;
    struct reply reply;
    uint64_t is_stored = row != NULL && row->size != 0 &&
                         stored_mount_of(call->thread->process, call->a[row->written.fd - 1], "", &status) != NULL;

    ASK(call->thread, &reply, OP_STORAGE, STORAGE_NO_ROOM, is_stored, 0UL, 0UL, 0UL, 0UL);
}

/* Time */

/* Return the offset in the file of the bytes that a call has moved. */
static int64_t moved_from(const struct call *call, const struct side *side, uint64_t bytes, const struct statx *status)
{
    long given = side->where == AT_POSITION ? 0 : call->a[side->offset - 1];
    int64_t position;

    if (side->where == AT_OFFSET && given != -1 && side == &row_of(call->number)->written && appends(call, side))
        return (int64_t)(status->stx_size > bytes ? status->stx_size - bytes : 0);
    if (side->where == AT_OFFSET && given != -1)
        return given;
    position = side->where == AT_POINTER && given != 0 ? *(int64_t *)given : NATIVE(lseek, call->a[side->fd - 1], 0, SEEK_CUR);
    return position > (int64_t)bytes ? position - (int64_t)bytes : 0;
}

static long move(struct call *call, const struct side *side, uint64_t bytes, bool writes)
{
    const struct stored_mount *mount = NULL;
    enum simunix_storage what = writes ? STORAGE_WRITE : STORAGE_READ;
    struct statx status;
    long flags;

    if (side->fd != 0)
        mount = stored_mount_of(call->thread->process, call->a[side->fd - 1], "", &status);
    if (mount == NULL)
        return 0;
    flags = (mount->flags & STORED_CACHED) != 0 ? NATIVE(fcntl, call->a[side->fd - 1], F_GETFL, 0) : O_DIRECT;
    if ((flags & O_DIRECT) != 0 && (mount->flags & STORED_REMOTE) == 0)
        return storage_wait(call, mount, bytes, writes);
    if ((flags & O_DIRECT) != 0)
        what = writes ? STORAGE_DIRECT_WRITE : STORAGE_DIRECT_READ;
    else if (writes && ((flags & O_DSYNC) != 0 || (call->number == __NR_pwritev2 && (call->a[5] & RWF_SYNCS) != 0)))
        what = STORAGE_THROUGH;
    return storage_tell(call, mount, what, &status, moved_from(call, side, bytes, &status), bytes);
}

/* sync_file_range(2): the range is written from then on, and only SYNC_FILE_RANGE_WAIT_AFTER waits for the end. */
static long sync_range(struct call *call, const struct stored_mount *mount, const struct statx *status)
{
    uint64_t bytes = call->a[2] > 0 ? (uint64_t)call->a[2] : MOST_OFFSET - (uint64_t)call->a[1]; /* 0: to the end */
    bool waits = (call->a[3] & SYNC_FILE_RANGE_WAIT_AFTER) != 0;

    if (!waits && (call->a[3] & SYNC_FILE_RANGE_WRITE) == 0)
        return 0;
    if ((mount->flags & STORED_CACHED) == 0)
        return waits ? storage_wait(call, mount, 0, true) : 0;
    return storage_tell(call, mount, waits ? STORAGE_SYNC : STORAGE_FLUSH, status, call->a[1], bytes);
}

/* fsync and similar calls. Data that bypass the cache are on the storage already; the storage is asked nevertheless.
 * sync(2) makes all storages of the host write at the same time. */
static long sync_storages(struct call *call, const struct row *row)
{
    const struct process *process = call->thread->process;
    const struct stored_mount *mount;
    struct statx status = {0};

    if (row->written.fd == 0)
        return storage_tell(call, &process->storage.mounts[0], STORAGE_ALL, &status, 1, 0), 0;
    mount = stored_mount_of(process, call->a[row->written.fd - 1], "", &status);
    if (mount == NULL)
        return 0;
    if (call->number == __NR_sync_file_range)
        return sync_range(call, mount, &status);
    if ((mount->flags & STORED_CACHED) == 0)
        return storage_wait(call, mount, 0, true);
    return storage_tell(call, mount, call->number == __NR_syncfs ? STORAGE_ALL : STORAGE_SYNC, &status, 0, 0);
}

/* Undo the progress of a read that fails after the kernel has carried it out: move the position in the file back. */
static void read_nothing(struct call *call, const struct side *side, long result)
{
    if (side->fd != 0 && side->where == AT_POSITION)
        NATIVE(lseek, call->a[side->fd - 1], -result, SEEK_CUR);
}

/* Let the storage's time pass for a call that the kernel has carried out, and return the result of the call, or the
 * error of the storage. The function is marked cold, as storage_admit is: it is compiled to be small, since the message
 * costs more time. */
__attribute__((cold)) long storage_pass(struct call *call, long result)
{
    const struct row *row = result < 0 ? NULL : row_of(call->number);
    long error = call->error;

    if (error == 0 && result >= 0 && stored_name_concerns(call->number))
        error = stored_name_pass(call, result);
    if (error == 0 && result >= 0 && mapped_is_changed_by(call->number))
        error = mapped_pass(call, result);
    if (row != NULL && row->syncs)
        error = sync_storages(call, row);
    else if (row != NULL && result > 0) {
        error = move(call, &row->read, (uint64_t)result, false);
        if (error != 0)
            read_nothing(call, &row->read, result);
        else
            error = move(call, &row->written, (uint64_t)result, true);
    }
    return error != 0 ? error : result;
}
