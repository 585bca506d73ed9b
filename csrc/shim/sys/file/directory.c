/* Directory entries: of /proc/PID/fd without the shim's own descriptors, of all folders with the types of devices. */
#include "shim/core/core.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/device/device.h"

/* getdents64 and the older getdents agree in the first three members; after these, the new form has the type, the old
 * form the name. */
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    char rest[];
};

static bool is_own_number(const char *name, int floor)
{
    int number = 0;

    if (*name == '\0')
        return false;
    for (; *name != '\0'; name++) {
        if (*name < '0' || *name > '9' || number > 1 << 24)
            return false;
        number = 10 * number + *name - '0';
    }
    return number >= floor;
}

static bool lists_descriptors(int fd)
{
    char link[64];
    char target[256];
    long size;

    text_append_number(text_append(link, link + sizeof link, "/proc/self/fd/"), link + sizeof link, fd);
    size = NATIVE(readlink, link, target, sizeof target - 1);
    if (size < 9 || !text_starts(target, "/proc/"))
        return false;
    target[size] = '\0';
    return text_equal(target + size - 3, "/fd") || text_equal(target + size - 7, "/fdinfo");
}

/* Entries of files that stand for devices have the type of the device. The new form has the type before the name, the
 * old form at the end. */
static void show_devices(struct call *call, size_t name_at, long size)
{
    char *end = (char *)call->a[1] + size;
    struct directory_entry *entry;
    struct device device;
    struct stat status;

    for (char *at = (char *)call->a[1]; at < end; at += entry->length) {
        char *type;

        entry = (void *)at;
        type = name_at == 0 ? at + entry->length - 1 : entry->rest;
        if (*type == S_IFREG >> 12 && device_may_have_inode(call->thread, entry->inode) &&
            NATIVE(newfstatat, call->a[0], entry->rest + name_at, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            has_device_mark(call->thread, status.st_mode) && device_find(call->thread, status.st_dev, status.st_ino, &device))
            *type = (char)(device.type >> 12);
    }
}

/* `name_at` is the place of the name after the common members. */
static long list_without_own(struct call *call, size_t name_at)
{
    struct stat folder;
    long size;
    char *to = (char *)call->a[1];
    const char *from = to;
    const char *end;

    if (call->thread->process->cgroups.device != 0 && NATIVE(fstat, call->a[0], &folder) == 0)
        cgroup_folder_is_looked_at(call->thread, &folder);
    size = syscall6(call->number, call->a[0], call->a[1], call->a[2], 0, 0, 0);
    end = to + size;
    if (size > 0 && call->thread->process->page->devices != 0)
        show_devices(call, name_at, size);
    if (size <= 0 || !lists_descriptors((int)call->a[0]))
        return size;
    while (from < end) {
        const struct directory_entry *entry = (const void *)from;
        uint16_t length = entry->length;

        if (!is_own_number(entry->rest + name_at, call->thread->process->descriptors.floor)) {
            memcpy(to, from, length);
            to += length;
        }
        from += length;
    }
    return to - (char *)call->a[1];
}

long sys_getdents(struct call *call)
{
    return list_without_own(call, 0);
}

long sys_getdents64(struct call *call)
{
    return list_without_own(call, 1);
}
