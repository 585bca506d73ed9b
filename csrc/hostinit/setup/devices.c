/* The host's /dev: the devices that every program expects, and pseudoterminals of the host's own, which are numbered from 0.
 *
 * A host has no access to disks, kernel memory, virtual machines and other consoles, nor to the terminal of simunix's
 * caller, into which root could type (ioctl_tty(2), TIOCSTI). Only a command in the foreground, which is the caller's
 * own, has that terminal as its /dev/console. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

const struct device common_devices[DEVICES] = {
    {"/dev/null", 1, 3},   {"/dev/zero", 1, 5},    {"/dev/full", 1, 7},
    {"/dev/random", 1, 8}, {"/dev/urandom", 1, 9}, {"/dev/tty", 5, 0},
};

static const struct {
    const char *path, *target;
} links[] = {
    {"/dev/fd", "/proc/self/fd"},       {"/dev/stdin", "/proc/self/fd/0"}, {"/dev/stdout", "/proc/self/fd/1"},
    {"/dev/stderr", "/proc/self/fd/2"}, {"/dev/ptmx", "pts/ptmx"},
};

static const char *const folders[] = {"/dev/pts", "/dev/shm", "/dev/mqueue"};

/* Bind a file of this computer at another path. Root of a user namespace, who may not make devices, can bind them. */
static bool bind_over(const char *source, const char *target)
{
    char outside[FIELD_MAX];

    outside_path(source, outside, sizeof outside);
    return directive_make_file(target) &&
           (mount(outside, target, NULL, MS_BIND, NULL) == 0 || control_failed("cannot bind over", target));
}

static bool make_device(size_t which)
{
    const char *path = common_devices[which].path;

    return (mknod(path, S_IFCHR | 0666, makedev(common_devices[which].major, common_devices[which].minor)) == 0 &&
            chmod(path, 0666) == 0) ||
           bind_over(path, path);
}

/* The group tty (5) owns terminals, so that write(1) may send to them; in a user namespace with one mapped id there is none. */
static bool mount_terminals(void)
{
    static const char options[] = "newinstance,ptmxmode=0666,mode=620,gid=5";
    static const char without_group[] = "newinstance,ptmxmode=0666,mode=620";
    unsigned long flags = MS_NOSUID | MS_NOEXEC;

    return mount("devpts", "/dev/pts", "devpts", flags, options) == 0 ||
           mount("devpts", "/dev/pts", "devpts", flags, without_group) == 0 || control_failed("cannot mount", "/dev/pts");
}

/* Make an empty file that is marked as a device, for "MODE PATH". The server knows which device the file stands for. */
bool device_make_file(const char *value)
{
    char mode[FIELD_MAX];
    const char *path = take_field(value, mode, ' ');

    return (mknod(path, S_IFREG, 0) == 0 && chmod(path, S_ISVTX | (mode_t)strtol(mode, NULL, 8)) == 0) ||
           control_failed("cannot make device", path);
}

/* Make the host's /dev. `terminal` is the path of the caller's terminal on this computer, or empty. */
bool devices_make(const char *terminal)
{
    if (!root_is_entered() && !outside_keep("/dev"))
        return false;
    if (mount("tmpfs", "/dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755") != 0)
        return control_failed("cannot mount tmpfs at", "/dev");
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(folders[i], 0755) != 0)
            return control_failed("cannot make directory", folders[i]);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (symlink(links[i].target, links[i].path) != 0)
            return control_failed("cannot make", links[i].path);
    for (size_t i = 0; i < DEVICES; i++)
        if (!make_device(i))
            return false;
    mount("mqueue", "/dev/mqueue", "mqueue", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL); /* not every kernel has this device */
    return mount_terminals() && (terminal[0] == '\0' || bind_over(terminal, "/dev/console"));
}
