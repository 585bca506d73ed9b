/* Another root file system for the host, under a layer of the host's own, so that the root file system itself is never
 * changed. See pivot_root(2). */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OUTSIDE "/.simunix-outside"

static const char *outside = "";
static bool is_entered;

/* Return the prefix under which this process finds a path of this computer. */
const char *root_outside(void)
{
    return outside;
}

bool root_is_entered(void)
{
    return is_entered;
}

static bool mount_layer(const char *lower, const char *base)
{
    static const char *const folders[] = {"upper", "work", "root"};
    char path[3][FIELD_MAX + 16];

    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path[i], sizeof path[i], "%s/%s", base, folders[i]);
        if (mkdir(path[i], 0755) != 0 && errno != EEXIST)
            return false;
    }
    return overlay_mount("", lower, path[0], path[1], path[2]);
}

/* Mount the layer over the root. If the file system of the run directory cannot hold a layer (an overlay, as in many
 * containers), the layer is in memory. */
static bool mount_layer_somewhere(const char *lower, const char *base)
{
    return mount_layer(lower, base) ||
           (errno == EINVAL && mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0 &&
            mount_layer(lower, base));
}

/* Bind this computer's /dev or /sys into the new root; /proc is mounted anew later. */
static bool bring_along(const char *root, const char *name)
{
    char path[FIELD_MAX + 16];

    snprintf(path, sizeof path, "%s%s", root, name);
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return control_failed("cannot make directory", path);
    return mount(name, path, NULL, MS_BIND | MS_REC, NULL) == 0 || control_failed("cannot bind over", path);
}

/* Enter the root LOWER (the value is LOWER\tBASE). The layer and the mount point are made below BASE, a folder of the
 * run directory. */
bool root_enter(const char *value)
{
    char lower[FIELD_MAX];
    char path[FIELD_MAX + 16];
    const char *base = take_field(value, lower, '\t');

    if (!mount_layer_somewhere(lower, base))
        return control_failed("cannot lay a private layer over the root file system", lower);
    snprintf(path, sizeof path, "%s/root", base);
    if (!bring_along(path, "/dev") || !bring_along(path, "/sys"))
        return false;
    if (chdir(path) != 0 || (mkdir(OUTSIDE + 1, 0700) != 0 && errno != EEXIST) ||
        syscall(SYS_pivot_root, ".", OUTSIDE + 1) != 0 || chdir("/") != 0)
        return control_failed("cannot enter the root file system", lower);
    outside = OUTSIDE;
    is_entered = true;
    return true;
}

/* Unmount this computer's own files, except what has been bound. */
bool root_close(const char *unused)
{
    (void)unused;
    outside = "";
    return (umount2(OUTSIDE, MNT_DETACH) == 0 && rmdir(OUTSIDE) == 0) || control_failed("cannot leave", OUTSIDE);
}
