/* The directives of the first message: names, mounts, addresses. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

bool setup_failed(const char *what, const char *which)
{
    control_answer("error %s %s: %s", what, which, strerror(errno));
    return false;
}

/* Copy the next field of `text`, up to the separator; returns what follows it. */
const char *take_field(const char *text, char *field, char separator)
{
    size_t length = strcspn(text, separator == '\t' ? "\t" : " ");

    if (length >= FIELD_MAX)
        length = FIELD_MAX - 1;
    memcpy(field, text, length);
    field[length] = '\0';
    return text[length] == '\0' ? text + length : text + length + 1;
}

static bool set_host_name(const char *name)
{
    return sethostname(name, strlen(name)) == 0 || setup_failed("cannot set host name", name);
}

static bool mount_proc(const char *unused)
{
    (void)unused;
    return mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0 || setup_failed("cannot mount", "/proc");
}

static bool mount_tmpfs(const char *value)
{
    char mode[FIELD_MAX];
    char options[FIELD_MAX + 8];
    const char *path = take_field(value, mode, ' ');

    snprintf(options, sizeof options, "mode=%s", mode);
    return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) == 0 || setup_failed("cannot mount tmpfs at", path);
}

/* Owner is NAME, UID or empty; the group is the user's own. */
static bool set_owner(const char *path, const char *owner)
{
    const struct passwd *user;

    if (owner[0] == '\0')
        return true;
    user = user_find(owner);
    if (user == NULL) {
        errno = ENOENT;
        return setup_failed("no such user:", owner);
    }
    /* In a user namespace of one id there is only root to own things. */
    if (chown(path, user->pw_uid, user->pw_gid) != 0 && errno != EINVAL && errno != EPERM)
        return setup_failed("cannot change the owner of", path);
    return true;
}

static bool make_directory(const char *value)
{
    char mode[FIELD_MAX];
    char owner[FIELD_MAX];
    const char *path = take_field(value, mode, ' ');

    path = take_field(path, owner, ' ');
    if (mkdir(path, 0755) != 0 && errno != EEXIST)
        return setup_failed("cannot make directory", path);
    if (!set_owner(path, owner))
        return false;
    return chmod(path, (mode_t)strtol(mode, NULL, 8)) == 0 || setup_failed("cannot set the mode of", path);
}

static bool make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    return fd < 0 ? setup_failed("cannot make file", path) : close(fd) == 0;
}

/* A target to bind over: made, with the folders above it, where it is missing. */
static bool make_place(const char *value)
{
    char kind[FIELD_MAX];
    char path[FIELD_MAX];

    take_field(take_field(value, kind, ' '), path, '\t');
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return setup_failed("cannot make directory", path);
        *slash = '/';
    }
    if (access(path, F_OK) == 0) /* opening it for writing would copy it into the layer */
        return true;
    if (strcmp(kind, "file") == 0)
        return make_file(path);
    return mkdir(path, 0755) == 0 || errno == EEXIST || setup_failed("cannot make directory", path);
}

static bool bind_mount(const char *value)
{
    char mode[FIELD_MAX];
    char source[FIELD_MAX];
    char outside[FIELD_MAX + 32];
    const char *target = take_field(value, mode, ' ');

    target = take_field(target, source, '\t');
    snprintf(outside, sizeof outside, "%s%s", root_outside(), source);
    if (mount(outside, target, NULL, MS_BIND | MS_REC, NULL) != 0)
        return setup_failed("cannot bind a private path over", target);
    if (strcmp(mode, "ro") == 0 && mount(NULL, target, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0 && errno != EPERM)
        return setup_failed("cannot make read-only:", target);
    return true;
}

static bool mount_overlay(const char *value)
{
    char upper[FIELD_MAX];
    char work[FIELD_MAX];
    char options[3 * FIELD_MAX];
    const char *target = take_field(take_field(value, upper, '\t'), work, '\t');

    snprintf(options, sizeof options, "lowerdir=%s,upperdir=%s,workdir=%s", target, upper, work);
    return mount("overlay", target, "overlay", 0, options) == 0 || setup_failed("cannot lay a private layer over", target);
}

static const struct {
    const char *key;
    bool (*run)(const char *value);
} directives[] = {
    {"hostname", set_host_name}, {"address", network_add_address}, {"proc", mount_proc}, {"tmpfs", mount_tmpfs},
    {"directory", make_directory}, {"file", make_file}, {"bind", bind_mount}, {"overlay", mount_overlay}, {"place", make_place},
    {"root", root_enter}, {"close", root_close},
};

static bool run_directive(const char *word)
{
    for (size_t i = 0; i < sizeof directives / sizeof directives[0]; i++) {
        const char *value = word_value(word, directives[i].key);

        if (value != NULL)
            return directives[i].run(value);
    }
    errno = EINVAL;
    return word_value(word, "namespaces") != NULL || setup_failed("unknown directive", word);
}

bool setup_run(const struct message *message)
{
    for (const char *word = NULL; (word = message_next(message, word)) != NULL;)
        if (!run_directive(word))
            return false;
    return true;
}
