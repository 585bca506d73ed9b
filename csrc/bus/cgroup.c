/* The folders below /sys/fs/cgroup: makes, limits, empties and removes them by ordinary system calls, as systemd does. */
#include "bus.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *root = "/sys/fs/cgroup";

void cgroup_begin(const char *folder)
{
    root = folder;
}

void cgroup_path(const char *group, const char *file, char *path, size_t room)
{
    const char *inside = strcmp(group, "/") == 0 ? "" : group;

    snprintf(path, room, "%s%s%s%s", root, inside, file[0] == '\0' ? "" : "/", file);
}

int cgroup_make(const char *group)
{
    char path[2 * PATH_ROOM];

    cgroup_path(group, "", path, sizeof path);
    return mkdir(path, 0755) == 0 || errno == EEXIST ? 0 : -errno;
}

int cgroup_write(const char *group, const char *file, const char *text)
{
    char path[2 * PATH_ROOM];
    int fd;
    ssize_t written;
    int error;

    cgroup_path(group, file, path, sizeof path);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    written = write(fd, text, strlen(text));
    error = written < 0 ? -errno : 0;
    close(fd);
    return error;
}

bool cgroup_read(const char *group, const char *file, char *text, size_t room)
{
    char path[2 * PATH_ROOM];
    ssize_t size;
    int fd;

    cgroup_path(group, file, path, sizeof path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size = read(fd, text, room - 1);
    close(fd);
    text[size > 0 ? size : 0] = '\0';
    return size >= 0;
}

/* Pass controllers on to the children of a cgroup, each by a write of its own, so that a controller which does not
 * exist does not prevent the others. */
int cgroup_enable(const char *group, const char *controllers)
{
    char there[NAME_ROOM];
    char words[NAME_ROOM];
    char *left = NULL;

    if (!cgroup_read(group, "cgroup.controllers", there, sizeof there))
        return -errno;
    snprintf(words, sizeof words, "%s", controllers);
    for (char *word = strtok_r(words, " ", &left); word != NULL; word = strtok_r(NULL, " ", &left)) {
        char text[64];

        snprintf(text, sizeof text, "+%s", word);
        if (strstr(there, word) != NULL)
            cgroup_write(group, "cgroup.subtree_control", text);
    }
    return 0;
}

bool cgroup_is_populated(const char *group)
{
    char text[NAME_ROOM];

    return cgroup_read(group, "cgroup.events", text, sizeof text) && strstr(text, "populated 1") != NULL;
}

int cgroup_attach(const char *group, pid_t pid)
{
    char text[16];

    snprintf(text, sizeof text, "%d", (int)pid);
    return cgroup_write(group, "cgroup.procs", text);
}

size_t cgroup_pids(const char *group, pid_t *pids, size_t room)
{
    char path[2 * PATH_ROOM];
    size_t count = 0;
    FILE *file;
    int pid;

    cgroup_path(group, "cgroup.procs", path, sizeof path);
    file = fopen(path, "re");
    while (file != NULL && count < room && fscanf(file, "%d", &pid) == 1)
        pids[count++] = pid;
    if (file != NULL)
        fclose(file);
    return count;
}

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* Return the cgroups in a cgroup, by name. The caller frees each name, and the list. */
static char **groups_in(const char *group, size_t *count)
{
    char path[2 * PATH_ROOM];
    char **names = NULL;
    struct dirent *entry;
    DIR *folder;

    *count = 0;
    cgroup_path(group, "", path, sizeof path);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            names = realloc(names, (*count + 1) * sizeof *names);
            if (names == NULL || (names[*count] = strdup(entry->d_name)) == NULL)
                fail("no memory for the groups in %s", group);
            ++*count;
        }
    if (folder != NULL)
        closedir(folder);
    if (*count > 0)
        qsort(names, *count, sizeof *names, by_name);
    return names;
}

/* Call a function for each cgroup in a cgroup. */
void cgroup_for_each_below(const char *group, void (*act)(const char *below, int number), int number)
{
    size_t count;
    char **names = groups_in(group, &count);

    for (size_t i = 0; i < count; i++) {
        char below[PATH_ROOM];

        if (snprintf(below, sizeof below, "%s/%s", strcmp(group, "/") == 0 ? "" : group, names[i]) < (int)sizeof below)
            act(below, number);
        free(names[i]);
    }
    free(names);
}

void cgroup_signal(const char *group, int number)
{
    static pid_t pids[65536];
    size_t count = cgroup_pids(group, pids, sizeof pids / sizeof *pids);

    for (size_t i = 0; i < count; i++)
        if (kill(pids[i], number) == 0 && number != SIGKILL && number != SIGCONT)
            kill(pids[i], SIGCONT);
    cgroup_for_each_below(group, cgroup_signal, number);
}

static void remove_below(const char *group, int unused)
{
    char path[2 * PATH_ROOM];

    cgroup_for_each_below(group, remove_below, unused);
    cgroup_path(group, "", path, sizeof path);
    rmdir(path);
}

/* Remove a cgroup and the empty cgroups in it. */
void cgroup_remove(const char *group)
{
    remove_below(group, 0);
}

/* Find the cgroup (version 2) that a process is in. Returns false if that is impossible. */
bool cgroup_of(pid_t pid, char *group, size_t room)
{
    char path[64];
    char line[2 * PATH_ROOM];
    bool is_found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    file = fopen(path, "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "0::", 3) == 0) {
            line[strcspn(line, "\n")] = '\0';
            is_found = snprintf(group, room, "%s", line + 3) < (int)room;
        }
    if (file != NULL)
        fclose(file);
    return is_found;
}
