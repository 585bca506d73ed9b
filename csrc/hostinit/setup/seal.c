/* Limits what root of a host may do to this computer, to what daemons need.
 *
 * Root of a privileged host is root of this computer, in other namespaces; that of a contained one is nobody outside
 * (containment/mounts.c), and finds the same. Files that no namespace separates (most of /proc/sys, all of /sys) are
 * read-only, and programs start without the capabilities that act on the computer as a whole. Programs keep
 * CAP_SYS_ADMIN, since daemons mount file systems: the limits prevent harm by mistake, not by malice. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The folders below /proc/sys for a network, UTS or IPC namespace, of which each host has its own. */
static const char *const divided[] = {
    "net",           "fs/mqueue",     "kernel/hostname", "kernel/domainname", "kernel/sem",    "kernel/shmmax",
    "kernel/shmall", "kernel/shmmni", "kernel/msgmax",   "kernel/msgmni",     "kernel/msgmnb", "kernel/shm_rmid_forced",
};

static const char *const others[] = {"sysrq-trigger", "irq", "bus", "acpi", "mtrr", "asound", "scsi"};

/* The capabilities (capabilities(7)) that a host's root does not get: modules, ports and kernel memory, reboot, the
 * clock, devices, immutable files, the kernel's log, wake-ups of a sleeping computer, accounting, profiling of other
 * processes, programs in the kernel, policies of security modules. */
static const unsigned dropped[] = {
    CAP_SYS_MODULE,
    CAP_SYS_RAWIO,
    CAP_SYS_BOOT,
    CAP_SYS_TIME,
    CAP_MKNOD,
    CAP_LINUX_IMMUTABLE,
    CAP_SYSLOG,
    CAP_WAKE_ALARM,
    CAP_SYS_PACCT,
    CAP_BLOCK_SUSPEND,
    CAP_MAC_OVERRIDE,
    CAP_MAC_ADMIN,
    38 /* CAP_PERFMON, Linux 5.8 */,
    39 /* CAP_BPF */,
};

static bool bind_itself(const char *path)
{
    return mount(path, path, NULL, MS_BIND, NULL) == 0;
}

static bool seal_proc(void)
{
    char path[64];

    if (!bind_itself("/proc/sys"))
        return control_failed("cannot bind over itself:", "/proc/sys");
    for (size_t i = 0; i < sizeof divided / sizeof *divided; i++) {
        snprintf(path, sizeof path, "/proc/sys/%s", divided[i]);
        if (!bind_itself(path) && errno != ENOENT)
            return control_failed("cannot bind over itself:", path);
    }
    if (!directive_make_read_only("/proc/sys"))
        return control_failed("cannot make read-only:", "/proc/sys");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(path, sizeof path, "/proc/%s", others[i]);
        if (bind_itself(path) ? !directive_make_read_only(path) : errno != ENOENT)
            return control_failed("cannot make read-only:", path);
    }
    return true;
}

/* Make /sys, and all mounts below it, read-only. A mount that cannot be made read-only is read-only already, or is
 * hidden below another mount. */
static bool seal_sys(void)
{
    char line[2 * FIELD_MAX];
    char path[FIELD_MAX];
    FILE *mounts = fopen("/proc/self/mounts", "re");

    if (mounts == NULL)
        return control_failed("cannot read", "/proc/self/mounts");
    while (fgets(line, sizeof line, mounts) != NULL)
        if (sscanf(line, "%*s %4095s", path) == 1 && path_is_below(path, "/sys"))
            directive_make_read_only(path);
    fclose(mounts);
    return true;
}

bool seal_mounts(const char *unused)
{
    (void)unused;
    return seal_proc() && seal_sys();
}

/* Give up the capabilities that act on the whole computer, for this process and all that it starts, setuid programs too. */
void seal_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &header, sets) != 0)
        return;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++) {
        struct __user_cap_data_struct *set = &sets[dropped[i] / 32];
        uint32_t bit = 1U << dropped[i] % 32;

        prctl(PR_CAPBSET_DROP, dropped[i], 0, 0, 0);
        set->effective &= ~bit;
        set->permitted &= ~bit;
        set->inheritable &= ~bit;
    }
    syscall(SYS_capset, &header, sets);
}
