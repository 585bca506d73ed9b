/* Makes the mounts in which contained hosts are cloned: a copy of this computer's mounts, in which files belong to ids
 * of the hosts.
 *
 * A contained host has a user namespace whose ids 0 to 2147483645 are the ids from 2147483648 on outside: no file or
 * process of this computer belongs to any of these ids, so root of the host is, outside of its namespaces, an unknown
 * user. Inside, files still have their owners, since the copied mounts map ids in the same way (mount_setattr(2),
 * MOUNT_ATTR_IDMAP). The copy is made once for all hosts of a run. The copy lacks mounts below /proc and /sys, other
 * processes in /proc, and devices, except for those that every host has. */
#define _GNU_SOURCE
#include "../hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define FIRST_ID 2147483648U
#define MOUNTS_MAX 4096
#define LINE 4096

/* mount_setattr(2), which older C libraries do not declare. */
#define SYS_OPEN_TREE 428
#define SYS_MOVE_MOUNT 429
#define SYS_MOUNT_SETATTR 442
#define CLONE_OF_TREE 1
#define WITHOUT_DEVICES 4          /* MOUNT_ATTR_NODEV */
#define WITH_MAPPED_IDS 0x00100000 /* MOUNT_ATTR_IDMAP */

struct changes {
    uint64_t set, clear, propagation, mapping;
};

static const char ids[] = "0 2147483648 2147483646";

struct place {
    int mounts; /* a mount namespace */
    int root;   /* the root directory of that namespace, as this process had it */
};

static struct place original = {-1, -1};
static struct place copy = {-1, -1};

/* Map the ids of a process in a new user namespace. Returns false, with errno set, on failure. */
bool contained_map(pid_t process)
{
    static const char *const files[] = {"uid_map", "gid_map"};
    char path[64];
    bool done = true;

    for (size_t i = 0; i < sizeof files / sizeof *files && done; i++) {
        int fd;

        snprintf(path, sizeof path, "/proc/%d/%s", (int)process, files[i]);
        fd = open(path, O_WRONLY | O_CLOEXEC);
        done = fd >= 0 && write(fd, ids, sizeof ids - 1) == sizeof ids - 1;
        if (fd >= 0)
            close(fd);
    }
    return done;
}

/* Return a user namespace with the ids of contained hosts, as mount_setattr(2) needs one; -1 with errno set on failure. */
static int mapping(void)
{
    char path[64];
    int fd = -1;
    int error;
    pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);

    if (child == 0)
        for (;;)
            pause();
    if (child < 0)
        return -1;
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
    if (contained_map(child))
        fd = open(path, O_RDONLY | O_CLOEXEC);
    error = errno;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    errno = error;
    return fd;
}

static bool change(int fd, const struct changes *changes)
{
    return syscall(SYS_MOUNT_SETATTR, fd, "", AT_EMPTY_PATH, changes, sizeof *changes) == 0;
}

static bool place_at(int fd, int folder, const char *path)
{
    return syscall(SYS_MOVE_MOUNT, fd, "", folder, path, 4 /* MOVE_MOUNT_F_EMPTY_PATH */) == 0;
}

/* Return a copy of what is mounted at a path; -1 with errno set on failure. No file of the copy is a device, except for
 * the terminals of /dev/pts. */
static int take(const char *path, bool keeps_devices)
{
    struct changes changes = {.set = keeps_devices ? 0 : WITHOUT_DEVICES, .propagation = MS_PRIVATE};
    int fd = (int)syscall(SYS_OPEN_TREE, AT_FDCWD, path, CLONE_OF_TREE | O_CLOEXEC | AT_SYMLINK_NOFOLLOW);

    if (fd >= 0 && change(fd, &changes))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Mount the file system at a path at another place as well: read-only, and without the mounts below it. */
bool mount_take_alone(const char *path, const char *place)
{
    struct changes changes = {.set = 1 /* MOUNT_ATTR_RDONLY */};
    int fd = take(path, false);
    bool done = fd >= 0 && change(fd, &changes) && place_at(fd, AT_FDCWD, place);

    if (fd >= 0)
        close(fd);
    return done;
}

static bool map_owners(int fd, int mapping_fd)
{
    struct changes changes = {.set = WITH_MAPPED_IDS, .mapping = (uint64_t)mapping_fd};

    return change(fd, &changes);
}

/* Paths with sockets and files of this computer's daemons, over which a host mounts something else: even if the host's
 * root unmounts this, it must not own these files. If files of the run are in such a path, the path must be mapped all
 * the same. */
static const char *const of_daemons[] = {"/run", "/dev", "/dev/shm"};
#define OF_DAEMONS (sizeof of_daemons / sizeof *of_daemons)

static bool is_of_daemons(const char *path, const struct message *message)
{
    if (!path_is_below(path, "/run") && !path_is_below(path, "/dev"))
        return false;
    for (const char *word = NULL; (word = message_next(message, word)) != NULL;) {
        const char *kept = word_value(word, "kept");

        if (kept != NULL && path_is_below(kept, path))
            return false;
    }
    return true;
}

/* proc(5): space, tab, newline and backslash in a path are three octal digits behind a backslash. */
static void unescape(char *path)
{
    char *to = path;

    for (const char *from = path; *from != '\0'; to++)
        if (from[0] == '\\' && strspn(from + 1, "01234567") >= 3) {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + from[3] - '0');
            from += 4;
        } else {
            *to = *from++;
        }
    *to = '\0';
}

static int by_length(const void *one, const void *other)
{
    const char *paths[2] = {*(char *const *)one, *(char *const *)other};
    size_t lengths[2] = {strlen(paths[0]), strlen(paths[1])};

    return lengths[0] == lengths[1] ? strcmp(paths[0], paths[1]) : lengths[0] > lengths[1] ? 1 : -1;
}

/* List the paths at which the copy has mounts, parents first. Returns their number. The texts live as long as the fork
 * server, since there is one copy. */
static size_t list_mounts(char **paths)
{
    char line[2 * LINE];
    char path[LINE];
    size_t count = 0;
    FILE *mounts = fopen("/proc/self/mountinfo", "re");

    for (size_t i = 0; i < OF_DAEMONS; i++)
        count += (paths[count] = strdup(of_daemons[i])) != NULL;
    while (mounts != NULL && count < MOUNTS_MAX && fgets(line, sizeof line, mounts) != NULL)
        if (sscanf(line, "%*s %*s %*s %*s %4095s", path) == 1) {
            unescape(path);
            paths[count] = strdup(path);
            count += paths[count] != NULL;
        }
    if (mounts != NULL)
        fclose(mounts);
    qsort(paths, count, sizeof *paths, by_length);
    return count;
}

/* Return whether this mount is the visible one at a path, not hidden by a later mount. */
static bool is_mounted(const char *path)
{
    struct statx status;

    return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &status) == 0 &&
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

static bool is_left_out(const char *path)
{
    for (size_t i = 0; i < OF_DAEMONS; i++)
        if (strcmp(path, of_daemons[i]) == 0)
            return false;
    return strcmp(path, "/") == 0 || path_is_below(path, "/proc") || strncmp(path, "/sys/", 5) == 0 || !is_mounted(path);
}

/* Bring what is mounted below "/" into the copy; `paths` are then the `count` ones that were brought, not below /dev and /run.
 * Mounts that cannot be copied are missing in the copy. If the kernel cannot map ids in a file system (proc, sysfs,
 * network file systems), the owners of its files are unknown to hosts. */
static void bring_mounts(int root, int mapping_fd, const struct message *message, char **paths, size_t *count)
{
    size_t listed = list_mounts(paths);

    *count = 0;
    for (size_t i = 0; i < listed; i++) {
        char *path = paths[i];
        bool is_known = i > 0 && strcmp(path, paths[i - 1]) == 0;
        int fd = is_known || is_left_out(path) ? -1 : take(path, strcmp(path, "/dev/pts") == 0);

        if (fd < 0)
            continue;
        if (!is_of_daemons(path, message))
            map_owners(fd, mapping_fd);
        if (place_at(fd, root, path + 1) && !path_is_below(path, "/dev") && !path_is_below(path, "/run"))
            paths[(*count)++] = path;
        close(fd);
    }
}

/* Make the devices that every host has, owned by the hosts' root: the hosts may not make them, and those of this
 * computer would belong to no user of theirs. */
static bool bring_devices(int mapping_fd)
{
    bool done = mount("tmpfs", "/proc", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755") == 0;

    for (size_t i = 0; done && i < DEVICES; i++) {
        char path[64];
        int fd;

        snprintf(path, sizeof path, "/proc/%s", strrchr(common_devices[i].path, '/') + 1);
        done = mknod(path, S_IFCHR | 0666, makedev(common_devices[i].major, common_devices[i].minor)) == 0 &&
               chmod(path, 0666) == 0;
        fd = done ? take(path, true) : -1;
        done = fd >= 0 && map_owners(fd, mapping_fd);
        if (done)
            place_at(fd, AT_FDCWD, common_devices[i].path);
        if (fd >= 0)
            close(fd);
    }
    return umount2("/proc", MNT_DETACH) == 0 && done;
}

/* Return whether the files that the hosts must own belong to their ids in the copy. */
static bool are_owned(const struct message *message)
{
    struct stat status;

    for (const char *word = NULL; (word = message_next(message, word)) != NULL;) {
        const char *kept = word_value(word, "kept");

        if (kept != NULL && stat(kept, &status) == 0 && status.st_uid < FIRST_ID) {
            errno = EOPNOTSUPP;
            return control_failed("the kernel maps no owners of files in", kept);
        }
    }
    return true;
}

/* In a mount namespace of this process's own, go from the present mounts to the copy. */
static bool enter_copy(int mapping_fd, const struct message *message)
{
    static char *mounts[MOUNTS_MAX];
    size_t count;
    int root = take("/", false);

    if (root < 0 || !map_owners(root, mapping_fd))
        return control_failed("the kernel maps no owners of files in", "/");
    if (!place_at(root, AT_FDCWD, "/"))
        return control_failed("cannot copy the mounts of", "this computer");
    bring_mounts(root, mapping_fd, message, mounts, &count);
    if (fchdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
        return control_failed("cannot enter the copy of", "this computer's mounts");
    close(root);
    if (!bring_devices(mapping_fd))
        return control_failed("cannot make devices in", "the copy of this computer's mounts");
    lowers_make(mounts, count);
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "hidepid=ptraceable") != 0)
        return control_failed("cannot mount", "/proc");
    return are_owned(message);
}

static bool remember(struct place *place)
{
    place->mounts = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    place->root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return place->mounts >= 0 && place->root >= 0;
}

static bool go_to(const struct place *place)
{
    return setns(place->mounts, CLONE_NEWNS) == 0 && fchdir(place->root) == 0 && chroot(".") == 0 && chdir("/") == 0;
}

static void forget(struct place *place)
{
    if (place->mounts >= 0)
        close(place->mounts);
    if (place->root >= 0)
        close(place->root);
    place->mounts = place->root = -1;
}

static bool make_copy(const struct message *message)
{
    int mapping_fd = mapping();
    bool done;

    if (mapping_fd < 0)
        return control_failed("cannot make", "a user namespace");
    done = (original.mounts >= 0 || remember(&original)) && unshare(CLONE_NEWNS) == 0;
    if (!done)
        control_failed("cannot make", "a mount namespace");
    else if (!(done = enter_copy(mapping_fd, message) && remember(&copy)))
        contained_leave();
    close(mapping_fd);
    return done;
}

/* From now on children are cloned in the copy, in which hosts own the paths `kept` of the message. Returns false after
 * having answered with an error. */
bool contained_enter(const struct message *message)
{
    if (copy.mounts < 0)
        return make_copy(message) && lowers_enter();
    return (go_to(&copy) && lowers_enter()) || control_failed("cannot enter", "the copy of this computer's mounts");
}

/* Go back to this computer's own mounts. */
void contained_leave(void)
{
    if (original.mounts >= 0)
        go_to(&original);
}

/* In a host: close the way back to this computer's own mounts. */
void contained_forget(void)
{
    forget(&original);
    forget(&copy);
}
