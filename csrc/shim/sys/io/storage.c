/* Files under a mount that is kept on a storage: what is read and written there takes the storage's time.
 *
 * The kernel does the call first, and tells how many bytes have moved; then the thread waits until the storage has moved as
 * many. No signal ends that wait, as none ends a wait for a disk (signal(7)), so the call's result stands. There is no page
 * cache: every read and write moves its bytes, and fsync has nothing left to write. Of which mount a descriptor is, the kernel
 * knows: nothing is kept that dup, fork, exec or passing could outdate. A process that has made mount points of its own
 * (unshare(2), CLONE_NEWNS) uses mounts that are none of the host's: nothing takes time there. */
#include "shim/core/memory.h"
#include "shim/sys/io/io.h"
#include "shim/turn/turn.h"

#define ROWS_MAX 512
#define RECORD_ROOM 1024

/* Which argument is a descriptor that is read, and that is written; 0: none, 1: the first. */
struct row {
    uint8_t read, written;
    bool syncs; /* it moves nothing, but asks the storage */
};

static const struct row rows[ROWS_MAX] = {
    [__NR_read] = {1, 0, false},           [__NR_readv] = {1, 0, false},    [__NR_pread64] = {1, 0, false},
    [__NR_preadv] = {1, 0, false},         [__NR_preadv2] = {1, 0, false},  [__NR_write] = {0, 1, false},
    [__NR_writev] = {0, 1, false},         [__NR_pwrite64] = {0, 1, false}, [__NR_pwritev] = {0, 1, false},
    [__NR_pwritev2] = {0, 1, false},       [__NR_sendfile] = {2, 1, false}, [__NR_copy_file_range] = {1, 3, false},
    [__NR_splice] = {1, 3, false},         [__NR_fsync] = {0, 1, true},     [__NR_fdatasync] = {0, 1, true},
    [__NR_sync_file_range] = {0, 1, true}, [__NR_syncfs] = {0, 1, true},
};

/* Does a call move bytes of files? Asked of hosts with storages only. */
bool storage_concerns(long number)
{
    return number >= 0 && number < ROWS_MAX && (rows[number].read != 0 || rows[number].written != 0);
}

static uint64_t take_number(const char **text)
{
    uint64_t number = 0;

    while (**text >= '0' && **text <= '9')
        number = 10 * number + (uint64_t)(*(*text)++ - '0');
    if (**text != '\0')
        (*text)++;
    return number;
}

/* Read what the host's set-up has written down: a line for each mount, its number and the storage's. A process that has another
 * root than the host does not find it. */
void storage_begin(struct process *process)
{
    char text[RECORD_ROOM];
    const char *at = text;
    long fd = NATIVE(openat, AT_FDCWD, "/run/simunix/storages", O_RDONLY | O_CLOEXEC, 0);
    long size = fd < 0 ? 0 : NATIVE(read, fd, text, sizeof text - 1);

    if (fd >= 0)
        NATIVE(close, fd);
    text[size > 0 ? size : 0] = '\0';
    while (*at != '\0' && process->stored_count < STORED_MOUNTS_MAX) {
        struct stored_mount *mount = &process->stored[process->stored_count++];

        mount->mount = take_number(&at);
        mount->storage = take_number(&at);
    }
}

static const struct stored_mount *mount_of(const struct process *process, long fd)
{
    struct statx status;

    if (NATIVE(statx, fd, "", AT_EMPTY_PATH, STATX_TYPE | STATX_MNT_ID, &status) != 0 ||
        ((status.stx_mode & S_IFMT) != S_IFREG && (status.stx_mode & S_IFMT) != S_IFDIR))
        return NULL;
    for (unsigned i = 0; i < process->stored_count; i++)
        if (process->stored[i].mount == status.stx_mnt_id)
            return &process->stored[i];
    return NULL;
}

static void operate(struct call *call, uint8_t argument, uint64_t bytes, bool writes)
{
    const struct stored_mount *mount = argument == 0 ? NULL : mount_of(call->thread->process, call->a[argument - 1]);
    struct wait wait = {.kind = PARK_STORAGE, .deadline = NEVER, .b = bytes, .c = writes};

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
    const struct row *row;

    if (!storage_concerns(call->number) || result < 0)
        return;
    row = &rows[call->number];
    if (result == 0 && !row->syncs)
        return;
    operate(call, row->read, (uint64_t)result, false);
    operate(call, row->written, (uint64_t)result, true);
}
