/* The directives of a host's first message, which set its names and make its mounts. A directive that fails answers the
 * server with an error. */
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

static bool set_host_name(const char *name)
{
    return sethostname(name, strlen(name)) == 0 || control_failed("cannot set host name", name);
}

static bool mount_proc(const char *unused)
{
    (void)unused;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 ||
           control_failed("cannot mount", "/proc");
}

/* Mount /proc once more, with nothing mounted over any part of it, in a folder that only the host's root may enter. A
 * user namespace within the host, such as a container's, may mount a /proc of its own only if it can see such a whole
 * /proc (mount_too_revealing in the kernel). If this computer does not let the host mount /proc again, the host has no
 * whole one. */
static bool mount_whole_proc(const char *path)
{
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return control_failed("cannot make directory", path);
    mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    return true;
}

static bool mount_tmpfs(const char *value)
{
    char mode[FIELD_MAX];
    char options[FIELD_MAX + 8];
    const char *path = take_field(value, mode, ' ');

    if (!root_is_entered() && !outside_keep(path))
        return false;
    snprintf(options, sizeof options, "mode=%s", mode);
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0 || control_failed("cannot mount tmpfs at", path);
}

/* Change the owner of a file. A user namespace with one mapped id has no other owner than root. */
static bool change_owner(const char *path, uid_t user, gid_t group)
{
    return chown(path, user, group) == 0 || errno == EINVAL || errno == EPERM ||
           control_failed("cannot change the owner of", path);
}

/* Give a file to a user (NAME or UID) and the user's own group, or to UID:GID; empty for no change. */
static bool set_owner(const char *path, const char *owner)
{
    const struct passwd *user;
    unsigned long numbers[2];

    if (owner[0] == '\0')
        return true;
    if (sscanf(owner, "%lu:%lu", &numbers[0], &numbers[1]) == 2)
        return change_owner(path, (uid_t)numbers[0], (gid_t)numbers[1]);
    user = user_find(owner);
    if (user == NULL) {
        errno = ENOENT;
        return control_failed("no such user:", owner);
    }
    return change_owner(path, user->pw_uid, user->pw_gid);
}

static bool make_directory(const char *value)
{
    char mode[FIELD_MAX];
    char owner[FIELD_MAX];
    const char *path = take_field(value, mode, ' ');

    path = take_field(path, owner, ' ');
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return control_failed("cannot make directory", path);
    if (!set_owner(path, owner))
        return false;
    return chmod(path, (mode_t)strtol(mode, NULL, 8)) == 0 || control_failed("cannot set the mode of", path);
}

/* Make a target to bind over, and the folders above it, if they are missing. */
static bool make_place(const char *value)
{
    char kind[FIELD_MAX];
    char path[FIELD_MAX];

    take_field(take_field(value, kind, ' '), path, '\t');
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return control_failed("cannot make directory", path);
        *slash = '/';
    }
    if (access(path, F_OK) == 0) /* not by open(2): to open a file for writing copies it into the layer */
        return true;
    if (strcmp(kind, "file") == 0)
        return directive_make_file(path);
    return mkdir(path, 0755) == 0 || errno == EEXIST || control_failed("cannot make directory", path);
}

static bool bind_mount(const char *value)
{
    char mode[FIELD_MAX];
    char source[FIELD_MAX];
    char outside[FIELD_MAX + 32];
    const char *target = take_field(value, mode, ' ');

    target = take_field(target, source, '\t');
    outside_path(source, outside, sizeof outside);
    if (mount(outside, target, NULL, MS_BIND | MS_REC, NULL) != 0)
        return control_failed("cannot bind a private path over", target);
    return strcmp(mode, "ro") != 0 || directive_make_read_only(target) || control_failed("cannot make read-only:", target);
}

/* Put a layer into memory, because the file system of the run directory cannot hold it (an overlay, as in many
 * containers). */
static bool put_in_memory(char path[2][FIELD_MAX + 32])
{
    char base[FIELD_MAX + 32];

    snprintf(base, sizeof base, "%.*s", (int)(strrchr(path[0], '/') - path[0]), path[0]);
    return mount("tmpfs", base, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") == 0 && mkdir(path[0], 0755) == 0 &&
           mkdir(path[1], 0755) == 0;
}

/* Lay UPPER (with WORK) over TARGET and, if there is a folder whose files hide those of the target, over that folder,
 * too. If the kernel cannot use one of these folders, it answers EINVAL without saying which. */
static bool lay_over(const char *value)
{
    char upper[FIELD_MAX];
    char work[FIELD_MAX];
    char target[FIELD_MAX];
    char path[2][FIELD_MAX + 32];
    char first[FIELD_MAX + 32];
    char alone[FIELD_MAX + 64];
    const char *lower = target;

    outside_path(take_field(take_field(take_field(value, upper, '\t'), work, '\t'), target, '\t'), first, sizeof first);
    outside_path(upper, path[0], sizeof path[0]);
    outside_path(work, path[1], sizeof path[1]);
    if (overlay_mount(first, lower, path[0], path[1], target))
        return true;
    if (errno == EINVAL && lowers_find(target, alone, sizeof alone)) {
        lower = alone;
        if (overlay_mount(first, lower, path[0], path[1], target))
            return true;
    }
    return errno == EINVAL && put_in_memory(path) && overlay_mount(first, lower, path[0], path[1], target);
}

static bool mount_overlay(const char *value)
{
    return lay_over(value) || control_failed("cannot lay a private layer over", strrchr(value, '\t') + 1);
}

#define CGROUPS "/sys/fs/cgroup"

/* Make the host's cgroups: a file system in memory, in which the shim and the server do what the kernel does for
 * cgroup2 (csrc/shim/sys/cgroup, rsg_server/cgroups/). This directive makes only the control files of the group in
 * which all processes begin.
 * `files`: NAME:MODE, with spaces between; a name with a slash at its end is that of a folder. On a computer whose
 * kernel has no folder for cgroups, hosts have no cgroups. */
static bool make_cgroups(const char *files)
{
    char field[FIELD_MAX];
    char path[FIELD_MAX + sizeof CGROUPS];
    char name[256];
    unsigned mode;

    if (access(CGROUPS, F_OK) != 0)
        return true;
    if (mount("cgroup2", CGROUPS, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755") != 0)
        return control_failed("cannot mount", CGROUPS);
    while (*files != '\0') {
        files = take_field(files, field, ' ');
        if (sscanf(field, "%255[^:]:%o", name, &mode) != 2)
            continue;
        snprintf(path, sizeof path, CGROUPS "/%s", name);
        if ((path[strlen(path) - 1] == '/' ? mkdir(path, mode) : mknod(path, S_IFREG | mode, 0)) != 0 || chmod(path, mode) != 0)
            return control_failed("cannot make", path);
    }
    return true;
}

/* Add files of the run directory to a folder in which no files can be made, such as /sys. */
static bool mount_merged(const char *value)
{
    char above[FIELD_MAX];
    char path[FIELD_MAX + 32];
    const char *target = take_field(value, above, '\t');

    outside_path(above, path, sizeof path);
    return overlay_merge(path, target) || control_failed("cannot add files to", target);
}

/* Mount a layer if that is possible: not over a folder in which something is mounted, if an ordinary user starts hosts. */
static bool mount_layer(const char *value)
{
    lay_over(value);
    return true;
}

/* Write down where something is mounted now, a line for each mount: later mounts are made by the host's programs, and
 * the shim shows them in /proc (csrc/shim/sys/procfs/mounts.c). */
static bool record_mounts(const char *path)
{
    char line[2 * FIELD_MAX];
    char point[FIELD_MAX];
    FILE *mounts = fopen("/proc/self/mountinfo", "re");
    FILE *record = fopen(path, "we");

    if (mounts == NULL || record == NULL)
        return control_failed("cannot write", path);
    while (fgets(line, sizeof line, mounts) != NULL)
        if (sscanf(line, "%*s %*s %*s %*s %4095s", point) == 1)
            fprintf(record, "%s\n", point);
    fclose(mounts);
    return fclose(record) == 0 || control_failed("cannot write", path);
}

/* Add a line to the record of mounts that are kept on storages: the kernel's number of the mount, then the given words:
 * the server's number of the storage, and flags (csrc/shim/sys/procfs/stored_mounts.c). */
static bool record_storage(const char *value)
{
    char storage[FIELD_MAX];
    const char *path = take_field(value, storage, '\t');
    struct statx status;
    FILE *record = fopen("/run/simunix/storages", "ae");

    if (record == NULL || statx(AT_FDCWD, path, 0, STATX_MNT_ID, &status) != 0)
        return control_failed("cannot record the storage of", path);
    fprintf(record, "%llu %s\n", (unsigned long long)status.stx_mnt_id, storage);
    return fclose(record) == 0 || control_failed("cannot record the storage of", path);
}

static const struct {
    const char *key;
    bool (*run)(const char *value);
} directives[] = {
    {"hostname", set_host_name},   {"proc", mount_proc},      {"tmpfs", mount_tmpfs},     {"directory", make_directory},
    {"file", directive_make_file}, {"bind", bind_mount},      {"overlay", mount_overlay}, {"layer", mount_layer},
    {"place", make_place},         {"root", root_enter},      {"close", root_close},      {"keep", outside_keep},
    {"share", outside_share},      {"devices", devices_make}, {"seal", seal_mounts},      {"mounts", record_mounts},
    {"storage", record_storage},   {"merge", mount_merged},   {"cgroups", make_cgroups},  {"device", device_make_file},
    {"whole", mount_whole_proc},
};

static bool run_directive(const char *word)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        const char *value = word_value(word, directives[i].key);

        if (value != NULL)
            return directives[i].run(value);
    }
    errno = EINVAL;
    return control_failed("unknown directive", word);
}

bool setup_run(const struct message *message)
{
    for (const char *word = NULL; (word = message_next(message, word)) != NULL;)
        if (!run_directive(word))
            return false;
    return true;
}
