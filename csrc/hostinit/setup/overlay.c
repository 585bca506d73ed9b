/* Overlay mounts: a private layer over a folder that stays unchanged. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

static bool in_user_namespace;

void overlay_in_user_namespace(void)
{
    in_user_namespace = true;
}

/* Append a path. Commas separate options and colons lower layers, so both are escaped by a backslash. */
static bool add_path(char **to, const char *end, const char *path)
{
    for (; *path != '\0'; path++) {
        if (end - *to < 3)
            return false;
        if (strchr(",:\\", *path) != NULL)
            *(*to)++ = '\\';
        *(*to)++ = *path;
    }
    **to = '\0';
    return true;
}

/* Append "NAME=PATH". */
static bool add_option(char **to, const char *end, const char *name, const char *path)
{
    int size = snprintf(*to, (size_t)(end - *to), "%s=", name);

    if (size < 0 || size >= end - *to)
        return false;
    *to += size;
    return add_path(to, end, path);
}

/* Append ":PATH", one more lower layer. */
static bool add_lower(char **to, const char *end, const char *path)
{
    if (end - *to < 2)
        return false;
    *(*to)++ = ':';
    return add_path(to, end, path);
}

/* Append "lowerdir=" with a folder whose files hide those of the lower folder, if there is such a folder, and with the
 * lower folder. */
static bool add_lowers(char **to, const char *end, const char *first, const char *lower)
{
    if (first[0] == '\0')
        return add_option(to, end, "lowerdir", lower);
    return add_option(to, end, "lowerdir", first) && add_lower(to, end, lower);
}

/* Mount an overlay. Returns false, with errno set, on failure. Files in `first`, unless it is "", hide those of
 * `lower`. In a user namespace, overlayfs stores its marks in user attributes (userxattr). */
bool overlay_mount(const char *first, const char *lower, const char *upper, const char *work, const char *target)
{
    char options[4096]; /* mount(2): at most one page */
    char *to = options;
    const char *end = options + sizeof options;

    if (!add_lowers(&to, end, first, lower) || !add_option(&to, end, ",upperdir", upper) ||
        !add_option(&to, end, ",workdir", work) || end - to < 16) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (in_user_namespace)
        memcpy(to, ",userxattr", sizeof ",userxattr");
    return mount("overlay", target, "overlay", 0, options) == 0;
}

/* Mount the files of two folders, read-only, at the target: files of the first folder hide those of the target.
 * Returns false, with errno set, on failure. */
bool overlay_merge(const char *above, const char *target)
{
    char options[4096];
    char *to = options;
    const char *end = options + sizeof options;

    if (!add_lowers(&to, end, above, target)) {
        errno = ENAMETOOLONG;
        return false;
    }
    return mount("overlay", target, "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, options) == 0;
}
