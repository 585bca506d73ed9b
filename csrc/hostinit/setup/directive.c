/* Functions for all directives of a host's first message: take fields, make files, make mounts read-only.
 *
 * This file calls no directive, so that each directive may call its functions.
 */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* Copy the next field of `text`, up to the separator (a tab or a space). Returns the text after the separator. */
const char *take_field(const char *text, char *field, char separator)
{
    size_t length = strcspn(text, separator == '\t' ? "\t" : " ");

    if (length >= FIELD_MAX)
        length = FIELD_MAX - 1;
    memcpy(field, text, length);
    field[length] = '\0';
    return text[length] == '\0' ? text + length : text + length + 1;
}

bool directive_make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    return fd < 0 ? control_failed("cannot make file", path) : close(fd) == 0;
}

/* Make a mount read-only. In a user namespace the flags that a mount has are locked, so a remount must repeat them
 * (mount_namespaces(7)). */
bool directive_make_read_only(const char *target)
{
    static const struct {
        unsigned long has, flag;
    } kept[] = {
        {ST_NOSUID, MS_NOSUID},   {ST_NODEV, MS_NODEV},           {ST_NOEXEC, MS_NOEXEC},
        {ST_NOATIME, MS_NOATIME}, {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME},
    };
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
    struct statvfs status;

    if (statvfs(target, &status) != 0)
        return false;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        if (status.f_flag & kept[i].has)
            flags |= kept[i].flag;
    return mount(NULL, target, NULL, flags, NULL) == 0;
}
