/* Files under a mount that is kept on a storage: what is read and written there takes the storage's time, and its room.
 *
 * The kernel does the call first, and tells how many bytes have moved; then the thread waits until the storage has moved as
 * many. No signal ends that wait, as none ends a wait for a disk (signal(7)), so the call's result stands. There is no page
 * cache: every read and write moves its bytes, and fsync has nothing left to write. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/io/io.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/turn/turn.h"

#define PARTS_MAX 1024
#define BLOCK_BYTES 4096 /* files take whole blocks: rsg_server/storage/room.py */
#define MOST_BYTES 0x7ffff000L
#define SEEK_CUR 1

enum where { AT_POSITION, AT_OFFSET, AT_POINTER };

/* Which argument is a descriptor that is read, and that is written; 0: none, 1: the first. Of what is written, which argument
 * tells how many bytes, or an array of parts, and which one where. */
struct row {
    uint16_t number;
    uint8_t read, written;
    uint8_t size, offset;
    uint8_t where; /* enum where */
    bool has_parts;
    bool syncs; /* it moves nothing, but asks the storage */
};

static const struct row rows[] = {
    {__NR_read, .read = 1},
    {__NR_write, .written = 1, .size = 3},
    {__NR_pread64, .read = 1},
    {__NR_pwrite64, .written = 1, .size = 3, .offset = 4, .where = AT_OFFSET},
    {__NR_readv, .read = 1},
    {__NR_writev, .written = 1, .size = 3, .has_parts = true},
    {__NR_sendfile, .read = 2, .written = 1, .size = 4},
    {__NR_fsync, .written = 1, .syncs = true},
    {__NR_fdatasync, .written = 1, .syncs = true},
    {__NR_splice, .read = 1, .written = 3, .size = 5, .offset = 4, .where = AT_POINTER},
    {__NR_sync_file_range, .written = 1, .syncs = true},
    {__NR_fallocate, .written = 1, .size = 4, .offset = 3, .where = AT_OFFSET},
    {__NR_preadv, .read = 1},
    {__NR_pwritev, .written = 1, .size = 3, .has_parts = true, .offset = 4, .where = AT_OFFSET},
    {__NR_syncfs, .written = 1, .syncs = true},
    {__NR_copy_file_range, .read = 1, .written = 3, .size = 5, .offset = 4, .where = AT_POINTER},
    {__NR_preadv2, .read = 1},
    {__NR_pwritev2, .written = 1, .size = 3, .has_parts = true, .offset = 4, .where = AT_OFFSET},
};

static const struct row *row_of(long number)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return &rows[i];
    return NULL;
}

/* Does a call move bytes of files? Asked of hosts with storages only. */
bool storage_concerns(long number)
{
    return row_of(number) != NULL;
}

/* Room */

/* Where a call writes; -1 if that cannot be told. */
static int64_t write_position(const struct call *call, const struct row *row, const struct statx *status)
{
    long fd = call->a[row->written - 1];
    long given = row->where == AT_POSITION ? 0 : call->a[row->offset - 1];

    if (row->where == AT_POINTER && given != 0)
        return is_bad_pointer((void *)given) ? -1 : *(int64_t *)given;
    if (row->where == AT_OFFSET && given != -1)
        return given;
    if ((NATIVE(fcntl, fd, F_GETFL, 0) & O_APPEND) != 0)
        return (int64_t)status->stx_size;
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

/* Before a call that may write: 0, or -ENOSPC where its storage has no room left for a byte of it. A call that finds room for a
 * part is shortened, as write(2) says; fallocate(2) and calls with several parts are done whole or not at all. */
long storage_admit(struct call *call)
{
    const struct row *row = row_of(call->number);
    const struct stored_mount *mount;
    struct statx status;
    struct reply reply;
    int64_t position, size, wanted, most;

    if (row == NULL || row->size == 0 || (call->number == __NR_fallocate && call->a[1] != 0))
        return 0;
    mount = stored_mount_of(call->thread->process, call->a[row->written - 1], "", &status);
    if (mount == NULL || !mount->is_limited)
        return 0;
    position = write_position(call, row, &status);
    size = write_size(call, row);
    wanted = whole_blocks(position + size) - whole_blocks((int64_t)status.stx_size);
    if (position < 0 || wanted <= 0 || ASK(call->thread, &reply, OP_STORAGE, mount->storage, (uint64_t)wanted) != 0)
        return 0;
    most = whole_blocks((int64_t)status.stx_size) + reply_number(&reply, 1) - position;
    if (most >= size)
        return 0;
    if (most <= 0 || row->has_parts || call->number == __NR_fallocate)
        return -ENOSPC;
    call->a[row->size - 1] = most;
    return 0;
}

/* Time */

static void operate(struct call *call, uint8_t argument, uint64_t bytes, bool writes)
{
    const struct stored_mount *mount = NULL;
    struct statx status;
    struct wait wait = {.kind = PARK_STORAGE, .deadline = NEVER, .b = bytes, .c = writes};

    if (argument != 0)
        mount = stored_mount_of(call->thread->process, call->a[argument - 1], "", &status);
    if (mount == NULL)
        return;
    wait.a = mount->storage;
    do {
        park(call, &wait);
        wait.b = (uint64_t)wait.value;
    } while (wait.b != 0);
}

/* Let the time of a call pass that the kernel has done. */
void storage_pass(struct call *call, long result)
{
    const struct row *row = result < 0 ? NULL : row_of(call->number);

    if (row == NULL || (result == 0 && !row->syncs))
        return;
    operate(call, row->read, (uint64_t)result, false);
    operate(call, row->written, (uint64_t)result, true);
}
