/* The kernel's same-page merging (KSM), on while a run asks for it: daemons of one kind have equal pages on every host.
 *
 * The settings are those of the whole computer. The first run that changes them notes in STATE the settings that it has found.
 * Every run holds a shared lock on that file, and the last run to release the lock restores the settings. A process of
 * each run, the keeper, does this when the fork server has ended. The keeper is in a session of its own, so that a
 * signal to the whole process group of a run does not reach it. If the keeper is killed too, the next run finds the
 * file STATE without a lock, and restores at its end the settings that the file lists. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PR_SET_MEMORY_MERGE 67 /* Linux 6.4; since Linux 6.7 the setting is kept across exec, as is needed here */
#define STATE "/run/simunix-merging"
#define FOLDER "/sys/kernel/mm/ksm/"
#define SETTINGS 3
#define RUN (SETTINGS - 1)

/* The settings in the order in which they are set: the speed of the kernel's thread first, then its start. */
static const char *const paths[SETTINGS] = {FOLDER "pages_to_scan", FOLDER "sleep_millisecs", FOLDER "run"};
static int state = -1;    /* STATE, locked */
static int lifeline = -1; /* the write end of a pipe; end of file tells the keeper that the fork server is gone */
static pid_t keeper = -1;

static bool read_setting(const char *path, long *value)
{
    char text[32] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool done = fd >= 0 && read(fd, text, sizeof text - 1) > 0;

    if (fd >= 0)
        close(fd);
    *value = strtol(text, NULL, 10);
    return done;
}

static bool write_setting(const char *path, long value)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && dprintf(fd, "%ld", value) > 0;

    if (fd >= 0)
        close(fd);
    return done;
}

/* Write the settings to STATE, unless an earlier run has done so. */
static bool note_settings(void)
{
    char text[128];
    int size = 0;
    long value;

    if (lseek(state, 0, SEEK_END) > 0)
        return true;
    for (size_t i = 0; i < SETTINGS; i++) {
        if (!read_setting(paths[i], &value))
            return false;
        size += snprintf(text + size, sizeof text - (size_t)size, "%ld ", value);
    }
    return pwrite(state, text, (size_t)size, 0) == size;
}

static void restore_settings(void)
{
    char text[128] = "";
    char *rest = text;
    long values[SETTINGS];

    if (pread(state, text, sizeof text - 1, 0) > 0) {
        for (size_t i = 0; i < SETTINGS; i++)
            values[i] = strtol(rest, &rest, 10);
        for (size_t i = SETTINGS; i-- > 0;)
            write_setting(paths[i], values[i]);
    }
    ftruncate(state, 0);
}

static bool switch_on(const long *wanted)
{
    if (!note_settings())
        return false;
    write_setting(paths[0], wanted[0]); /* the kernel refuses this if its own advisor sets the value */
    write_setting(paths[1], wanted[1]);
    return write_setting(paths[RUN], 1);
}

/* Join the runs that merge pages, as the first of them or a later one. */
static bool join(const long *wanted)
{
    long is_on = 0;

    read_setting(paths[RUN], &is_on);
    state = open(STATE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (state < 0)
        return is_on == 1; /* the file belongs to another user, whose run has switched merging on and will restore the
                            * settings */
    while (flock(state, LOCK_EX | LOCK_NB) != 0) {
        flock(state, LOCK_SH);
        if (lseek(state, 0, SEEK_END) > 0)
            return true;
        flock(state, LOCK_UN); /* the last of the other runs has just ended */
    }
    if (switch_on(wanted) && flock(state, LOCK_SH) == 0)
        return true;
    restore_settings();
    ksm_leave();
    return is_on == 1;
}

static _Noreturn void keep(int end)
{
    char nothing;

    children_outlive_none();
    setsid();
    while (read(end, &nothing, 1) < 0 && errno == EINTR)
        ;
    if (flock(state, LOCK_EX | LOCK_NB) == 0)
        restore_settings();
    _exit(0);
}

/* Start the keeper, which inherits the lock and outlives the fork server. */
static bool start_keeper(void)
{
    int ends[2];

    if (state < 0)
        return true; /* nothing was changed, so nothing is to be restored */
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    keeper = fork();
    if (keeper == 0) {
        close(CONTROL);
        close(ends[1]);
        keep(ends[0]);
    }
    if (keeper < 0 && flock(state, LOCK_EX | LOCK_NB) == 0)
        restore_settings();
    close(ends[0]);
    lifeline = ends[1];
    close(state);
    state = -1;
    return keeper > 0;
}

void ksm_answer(const struct message *message, const char *value)
{
    char *rest;
    long wanted[2] = {strtol(value, &rest, 10), strtol(rest, NULL, 10)};

    (void)message;
    if (!join(wanted))
        control_failed("cannot write", FOLDER "run");
    else if (!start_keeper())
        control_failed("cannot start a process that restores", FOLDER "run");
    else if (prctl(PR_SET_MEMORY_MERGE, 1, 0, 0, 0) != 0)
        control_failed("the kernel does not merge pages of whole processes:", "PR_SET_MEMORY_MERGE");
    else
        control_answer("ok 0");
}

/* Give up the lock and the pipe, in a host's process and at the end. */
void ksm_leave(void)
{
    if (lifeline >= 0)
        close(lifeline);
    if (state >= 0)
        close(state);
    lifeline = state = -1;
}

void ksm_end(void)
{
    ksm_leave();
    if (keeper > 0)
        children_await(keeper);
}
