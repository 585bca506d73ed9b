/* Finds files of this computer for a host's first process, while it hides folders of this computer one after the other.
 * The run directory, whose files are bound later, may be in one of them. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

/* Folders that mounts hide, kept open. */
static struct {
    char path[64];
    int fd;
} hidden[16];
static size_t hidden_count;

/* Return whether a path is a folder, or is in it. */
bool path_is_below(const char *path, const char *folder)
{
    size_t length = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Keep a folder that a mount is about to hide. */
bool outside_keep(const char *path)
{
    if (hidden_count == sizeof hidden / sizeof hidden[0] || strlen(path) > sizeof hidden[0].path - 2) {
        errno = ENOSPC;
        return control_failed("cannot keep open", path);
    }
    snprintf(hidden[hidden_count].path, sizeof hidden[0].path, "%s/", path);
    hidden[hidden_count].fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return hidden[hidden_count++].fd >= 0 || control_failed("cannot open", path);
}

/* Close the folders in a host that has been set up: its programs can find in /proc what this process has open. */
void outside_forget(void)
{
    while (hidden_count > 0)
        close(hidden[--hidden_count].fd);
}

/* Write the path under which this process finds a path of this computer. */
void outside_path(const char *source, char *path, size_t size)
{
    size_t length;

    if (root_is_entered()) {
        snprintf(path, size, "%s%s", root_outside(), source);
        return;
    }
    for (size_t i = 0; i < hidden_count; i++) {
        length = strlen(hidden[i].path) - 1;
        if (strncmp(source, hidden[i].path, length) == 0 && (source[length] == '/' || source[length] == '\0')) {
            snprintf(path, size, "/proc/self/fd/%d/%s", hidden[i].fd, source[length] == '/' ? source + length + 1 : ".");
            return;
        }
    }
    snprintf(path, size, "%s", source);
}

/* Make a folder with the owner and mode that it has on this computer, since these decide who may enter. */
static bool make_alike(const char *path)
{
    char outside[FIELD_MAX + 32];
    struct stat status;

    outside_path(path, outside, sizeof outside);
    if (stat(outside, &status) != 0)
        return false;
    if (mkdir(path, 0700) != 0)
        return errno == EEXIST;
    /* A user namespace with one mapped id has no other owner. */
    if (chown(path, status.st_uid, status.st_gid) != 0 && errno != EINVAL && errno != EPERM)
        return false;
    return chmod(path, status.st_mode & 07777) == 0;
}

/* Show a folder or file of this computer below folders that are hidden by now. */
bool outside_share(const char *value)
{
    char path[FIELD_MAX];
    char outside[FIELD_MAX + 32];
    struct stat status;

    take_field(value, path, '\t');
    outside_path(value, outside, sizeof outside);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (!make_alike(path))
            return control_failed("cannot make directory", path);
        *slash = '/';
    }
    if (stat(outside, &status) != 0)
        return control_failed("cannot share", value);
    if (S_ISDIR(status.st_mode) ? !make_alike(path) : access(path, F_OK) != 0 && !directive_make_file(path))
        return control_failed("cannot make a place for", path);
    return mount(outside, path, NULL, MS_BIND | MS_REC, NULL) == 0 || control_failed("cannot share", value);
}
