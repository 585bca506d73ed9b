/* The host's cgroups: a file system in memory of its own, in which the shim and the server do what a kernel's cgroup2 does
 * (csrc/shim/sys/cgroup, rsg_server/cgroups/). Here are only the control files of the group that all processes begin in. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"

/* `files`: NAME:MODE, with spaces between; a name with a slash at its end is that of a folder. A computer whose kernel has no place for cgroups shows none. */
bool cgroups_make(const char *files)
{
    char field[FIELD_MAX];
    char path[FIELD_MAX + sizeof CGROUPS];
    char name[256];
    unsigned mode;

    if (access(CGROUPS, F_OK) != 0)
        return true;
    if (mount("cgroup2", CGROUPS, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") != 0)
        return setup_failed("cannot mount", CGROUPS);
    while (*files != '\0') {
        files = take_field(files, field, ' ');
        if (sscanf(field, "%255[^:]:%o", name, &mode) != 2)
            continue;
        snprintf(path, sizeof path, CGROUPS "/%s", name);
        if ((path[strlen(path) - 1] == '/' ? mkdir(path, mode) : mknod(path, S_IFREG | mode, 0)) != 0 || chmod(path, mode) != 0)
            return setup_failed("cannot make", path);
    }
    return true;
}
