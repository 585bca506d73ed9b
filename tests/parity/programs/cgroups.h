/* A group of the test's own in the hierarchy of version 2, wherever that is mounted; a computer without one, or a user who may not
 * make groups there, has nothing to compare. */
#ifndef PARITY_CGROUPS_H
#define PARITY_CGROUPS_H

#include "check.h"

#include <limits.h>

static char group[PATH_MAX]; /* the test's own */

static inline const char *in(const char *name)
{
    static char paths[4][2 * PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];

    snprintf(path, sizeof paths[0], "%s/%s", group, name);
    return path;
}

/* Where the hierarchy is: "" if nowhere. */
static inline void find_hierarchy(char *root, size_t size)
{
    char line[PATH_MAX];
    FILE *mounts = fopen("/proc/self/mounts", "r");

    root[0] = '\0';
    while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
        char *path = strchr(line, ' ');
        char *type = path == NULL ? NULL : strchr(path + 1, ' ');

        if (type != NULL && strncmp(type + 1, "cgroup2 ", 8) == 0) {
            *type = '\0';
            snprintf(root, size, "%s", path + 1);
        }
    }
    if (mounts != NULL)
        fclose(mounts);
}

/* Make the test's group; ends the program if there can be none. */
static inline void begin_group(const char *name)
{
    char root[PATH_MAX];

    find_hierarchy(root, sizeof root);
    snprintf(group, sizeof group, "%.3000s/parity-%s-%d", root, name, getpid());
    if (mkdir(group, 0755) != 0) {
        CHECK(!is_emulated());
        exit(succeed());
    }
}

static inline const char *text_of(const char *path)
{
    static char text[4096];
    int fd = open(path, O_RDONLY);
    ssize_t size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

    if (fd >= 0)
        close(fd);
    text[size < 0 ? 0 : size] = '\0';
    return text;
}

static inline int says(const char *path, const char *wanted)
{
    return strcmp(text_of(path), wanted) == 0;
}

/* 0, or -1 with errno, of one write. */
static inline int put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    ssize_t size = fd < 0 ? -1 : write(fd, text, strlen(text));
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return size < 0 ? -1 : 0;
}

static inline int put_number(const char *path, long number)
{
    char text[24];

    snprintf(text, sizeof text, "%ld", number);
    return put(path, text);
}

/* Linux freezes, and empties a group, a little later. */
static inline int comes_to_say(const char *path, const char *wanted)
{
    for (int i = 0; i < 500 && !says(path, wanted); i++)
        sleep_ms(10);
    return says(path, wanted);
}

#endif
