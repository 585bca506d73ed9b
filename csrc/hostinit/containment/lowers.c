/* Provides the lower layers of hosts' overlays for folders in which something is mounted: each mount alone, without the
 * mounts below it.
 *
 * In a user namespace no layer can be laid over a folder in which something is mounted, since the layer would show what the
 * mount hides (mount_namespaces(7)). So the copy of the mounts has each mount once more, alone and read-only, on a file system
 * in memory that the copy's /proc covers. No path leads to that file system: a host is cloned with it as its working
 * directory, and keeps a descriptor of it until the host is set up. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALONE_MAX 64

static char *alone[ALONE_MAX]; /* the paths of the mounts that are kept in folders 0, 1, ... */
static size_t alone_count;
static int folder = -1; /* the file system that has these folders */

/* Return the longest path of `mounts` that is at or above a path. */
static const char *mount_above(char *const *mounts, size_t count, const char *path)
{
    const char *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (path_is_below(path, mounts[i]) && (found == NULL || strlen(mounts[i]) > strlen(found)))
            found = mounts[i];
    return found;
}

static bool stands_alone(const char *path)
{
    for (size_t i = 0; i < alone_count; i++)
        if (strcmp(alone[i], path) == 0)
            return true;
    return false;
}

static bool add(const char *path)
{
    char place[64];

    snprintf(place, sizeof place, "/proc/%zu", alone_count);
    if (alone_count == ALONE_MAX || mkdir(place, 0755) != 0 || !mount_take_alone(path, place))
        return false;
    alone[alone_count] = strdup(path);
    return alone[alone_count] != NULL && ++alone_count > 0;
}

/* In the copy, before it has a /proc: put every mount aside in which something is mounted, below a folder of its root,
 * where layers are laid. If a mount cannot be put aside, the only effect is that hosts cannot have a layer there. */
void lowers_make(char *const *mounts, size_t count)
{
    if (mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NOEXEC | MS_NODEV, "mode=755") != 0)
        return;
    for (size_t i = 0; i < count; i++) {
        char above[FIELD_MAX];
        char *slash;
        const char *parent;

        snprintf(above, sizeof above, "%s", mounts[i]);
        slash = strrchr(above, '/');
        if (slash == NULL || slash == above) /* mounts on a folder of the root are skipped, since no layer is laid over
                                              * the root itself */
            continue;
        *slash = '\0';
        parent = mount_above(mounts, count, above);
        if (!stands_alone(parent == NULL ? "/" : parent))
            add(parent == NULL ? "/" : parent);
    }
    if (alone_count > 0)
        folder = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    else
        umount2("/proc", MNT_DETACH);
}

/* Enter the file system of these mounts before a host is cloned. A child has the working directory of its parent, in
 * its own copy of the mounts. */
bool lowers_enter(void)
{
    return folder < 0 || fchdir(folder) == 0;
}

/* In a host that was cloned there, open the mounts. */
void lowers_take(void)
{
    if (folder < 0)
        return;
    close(folder);
    folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (chdir("/") != 0)
        _exit(1);
}

/* Find where a host has a folder without what is mounted in it. Returns false if nothing has been put aside for the
 * folder. */
bool lowers_find(const char *path, char *found, size_t size)
{
    const char *above = mount_above(alone, alone_count, path);

    if (folder < 0 || above == NULL)
        return false;
    for (size_t i = 0; i < alone_count; i++)
        if (alone[i] == above)
            snprintf(found, size, "/proc/self/fd/%d/%zu/%s", folder, i, path + strlen(above));
    return true;
}

/* Close the way to these mounts, in a host that has been set up, so that its programs do not find it. */
void lowers_forget(void)
{
    if (folder >= 0)
        close(folder);
    folder = -1;
}
