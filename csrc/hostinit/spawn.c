/* Starts one program: descriptors, limits, user, directory, exec; or answers with the reason why not. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORDS_MAX 8192

struct program {
    char *argv[WORDS_MAX];
    char *environment[WORDS_MAX];
    const char *directory;
    const char *user;
    long nofile;
    long core; /* the only processor on which the program may run; -1: any */
    long channel;
    long foreground;
    long terminal;    /* standard input is a terminal, which becomes the controlling terminal of a new session */
    const char *shim; /* the shim's file, opened for an exec that is traced; "": the exec is not traced */
    long entry;
    long size;
};

/* The words of a request about a program, besides its arguments and variables. */
static const struct {
    const char *key;
    size_t offset; /* the offset of the field in struct program */
    bool is_number;
} settings[] = {
    {"cwd", offsetof(struct program, directory), false},    {"user", offsetof(struct program, user), false},
    {"nofile", offsetof(struct program, nofile), true},     {"core", offsetof(struct program, core), true},
    {"channel", offsetof(struct program, channel), true},   {"foreground", offsetof(struct program, foreground), true},
    {"terminal", offsetof(struct program, terminal), true}, {"shim", offsetof(struct program, shim), false},
    {"entry", offsetof(struct program, entry), true},       {"size", offsetof(struct program, size), true},
};

static int *started; /* processes whose end is reported to the server; 0: a free place */
static size_t started_size;

/* Return a free place in `started`, which grows if needed; NULL if there is no memory. */
static int *free_place(void)
{
    size_t size = started_size == 0 ? 64 : 2 * started_size;
    int *bigger;

    for (size_t i = 0; i < started_size; i++)
        if (started[i] == 0)
            return &started[i];
    bigger = realloc(started, size * sizeof *started);
    if (bigger == NULL)
        return NULL;
    memset(bigger + started_size, 0, (size - started_size) * sizeof *started);
    started = bigger;
    started_size = size;
    return &started[size / 2];
}

/* Return whether the server has asked for this process, which has ended, and forget the process. */
bool spawn_was_asked_for(int pid)
{
    for (size_t i = 0; i < started_size; i++)
        if (started[i] == pid) {
            started[i] = 0;
            return true;
        }
    return false;
}

static void take_setting(struct program *program, const char *word)
{
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        const char *value = word_value(word, settings[i].key);
        char *place = (char *)program + settings[i].offset;

        if (value != NULL && settings[i].is_number)
            *(long *)place = strtol(value, NULL, 10);
        else if (value != NULL)
            *(const char **)place = value;
    }
}

/* Read a request. Returns NULL, or what is wrong with it. */
static const char *read_program(const struct message *message, struct program *program)
{
    static const char too_many[] = "more than 8191 arguments or variables for a program";
    size_t arguments = 0;
    size_t variables = 0;
    const char *value;

    program->directory = "/"; /* field by field: to clear the lists as a whole would cost every host 128 KiB of memory */
    program->user = "";
    program->nofile = 1024;
    program->core = -1;
    program->channel = 1024;
    program->foreground = program->terminal = 0;
    program->shim = "";
    program->entry = program->size = 0;
    for (const char *word = NULL; (word = message_next(message, word)) != NULL;) {
        if ((value = word_value(word, "argv")) != NULL)
            program->argv[arguments++] = (char *)value;
        else if ((value = word_value(word, "env")) != NULL)
            program->environment[variables++] = (char *)value;
        else
            take_setting(program, word);
        if (arguments == WORDS_MAX || variables == WORDS_MAX)
            return too_many;
    }
    program->argv[arguments] = program->environment[variables] = NULL;
    return arguments > 0 && message->fd_count == DESCRIPTORS ? NULL : "malformed request to start a program";
}

/* Report to the parent process what has failed, and end. */
static _Noreturn void give_up(int report, const char *what, const char *which)
{
    dprintf(report, "%s %s: %s", what, which, strerror(errno));
    _exit(127);
}

static void become_user(int report, const char *name)
{
    const struct passwd *user;

    if (name[0] == '\0')
        return;
    user = user_find(name);
    if (user == NULL)
        give_up(report, "no such user:", name);
    if (user->pw_uid == geteuid())
        return;
    if (!user_join_groups(user) || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
        give_up(report, "cannot become user", name);
}

/* Leave the groups of simunix's caller: root has the groups of root. In a user namespace groups cannot be changed, and
 * the shim hides them. */
static void leave_callers_groups(void)
{
    const struct passwd *root = geteuid() == 0 ? user_find("0") : NULL;

    if (root != NULL && user_join_groups(root) && setgid(root->pw_gid) != 0)
        return; /* the process keeps the groups that it had */
}

/* The limits of a process after a boot of Debian. Limits decide where a stack lies, how large the stacks of threads are, and
 * what clients of a cluster tell its daemons: with the limits of the shell from which simunix was started, a run would
 * depend on this shell. The limits of processes and of pending signals are set to unlimited, since Debian computes them
 * from the computer's memory, and the kernel counts them for all hosts together. */
static const struct {
    int which;
    struct rlimit limit;
} BOOT_LIMITS[] = {
    {RLIMIT_STACK, {8 << 20, RLIM_INFINITY}},
    {RLIMIT_CORE, {0, RLIM_INFINITY}},
    {RLIMIT_MEMLOCK, {8 << 20, 8 << 20}},
    {RLIMIT_MSGQUEUE, {819200, 819200}},
    {RLIMIT_NPROC, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_SIGPENDING, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_CPU, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_FSIZE, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_DATA, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_RSS, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_AS, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_LOCKS, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_RTTIME, {RLIM_INFINITY, RLIM_INFINITY}},
    {RLIMIT_NICE, {0, 0}},
    {RLIMIT_RTPRIO, {0, 0}},
};

/* Set the limits. Only root may raise a hard limit. If an administrator has set a lower one, the soft limit is as near
 * as possible. */
static void set_boot_limits(void)
{
    for (size_t i = 0; i < sizeof BOOT_LIMITS / sizeof *BOOT_LIMITS; i++) {
        struct rlimit limit = BOOT_LIMITS[i].limit;
        struct rlimit given;

        if (setrlimit(BOOT_LIMITS[i].which, &limit) == 0 || getrlimit(BOOT_LIMITS[i].which, &given) != 0)
            continue;
        limit.rlim_max = given.rlim_max < limit.rlim_max ? given.rlim_max : limit.rlim_max;
        limit.rlim_cur = limit.rlim_cur < limit.rlim_max ? limit.rlim_cur : limit.rlim_max;
        setrlimit(BOOT_LIMITS[i].which, &limit);
    }
}

static void set_limits(int report, const struct program *program)
{
    struct rlimit files = {(rlim_t)program->nofile, (rlim_t)program->nofile};
    struct rlimit dumps = {0, 0};
    cpu_set_t cores;

    if (program->foreground)
        ceilings_restore(); /* a command on the user's own terminal keeps the user's limits */
    else
        set_boot_limits();
    if (getrlimit(RLIMIT_CORE, &dumps) == 0) {
        dumps.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &dumps);
    }
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        give_up(report, "cannot allow open files for", program->argv[0]);
    if (program->core >= 0) {
        CPU_ZERO(&cores);
        CPU_SET((size_t)program->core, &cores);
        sched_setaffinity(0, sizeof cores, &cores);
    }
    personality(ADDR_NO_RANDOMIZE); /* without randomisation, addresses are equal in every run */
}

/* Reset the actions of all signals, by the kernel's own system call: the C library's sigaction(3) refuses the signals
 * 32 and 33, which it uses itself. A program that posix_spawn(3) has started, for example by make, begins with these
 * two signals ignored. */
static void reset_signals(void)
{
    const struct {
        unsigned long handler, flags, restorer, mask;
    } by_default = {(unsigned long)SIG_DFL, 0, 0, 0};
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        syscall(SYS_rt_sigaction, number, &by_default, NULL, sizeof by_default.mask);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Let the program use the descriptors below its channel. The hard limit leaves room for the shim's descriptors. */
static void limit_descriptors(int channel)
{
    struct rlimit files;

    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = (rlim_t)channel;
    setrlimit(RLIMIT_NOFILE, &files);
}

/* Return the number for the shim's file. csrc/shim/entry/init.c closes it again if the loader has loaded the shim. */
static int shim_descriptor(const struct program *program)
{
    return (int)program->channel + 2;
}

static void open_shim(const struct program *program, int report)
{
    int file = open(program->shim, O_RDONLY | O_CLOEXEC);

    if (file < 0 || fcntl(file, F_DUPFD, shim_descriptor(program)) != shim_descriptor(program))
        give_up(report, "cannot open", program->shim);
    close(file);
}

/* Place stdin, stdout and stderr at 0 to 2, and the channel where the shim expects it. The descriptor for the report
 * closes at the exec. */
static int place_descriptors(const struct message *message, const struct program *program, int report)
{
    int channel = (int)program->channel;
    int hidden = fcntl(report, F_DUPFD_CLOEXEC, channel + 1);

    if (hidden < 0 || fcntl(message->fds[3], F_DUPFD, channel) != channel) /* no other descriptor is as high */
        give_up(report, "cannot place the channel above", "the program's own descriptors");
    for (int i = 0; i < 3; i++)
        dup2(message->fds[i], i);
    close_range(3, (unsigned)channel - 1, 0);
    if (program->shim[0] != '\0')
        open_shim(program, report);
    limit_descriptors(channel);
    return hidden;
}

/* Return whether a command joins a host from a folder that the host does not have. The command then begins in /. */
static bool is_strange_directory(const struct program *program)
{
    return program->foreground && errno == ENOENT && chdir("/") == 0;
}

/* Return whether the program is on the caller's own terminal. If so, it stays in the caller's process group, which is
 * the one that may read from the terminal. Without a terminal the program gets a process group of its own, so that
 * kill(0) reaches no process outside. */
static bool has_terminal(void)
{
    return isatty(0) || isatty(1) || isatty(2);
}

/* Wait until the host's init traces this process: the init says so by closing its end of the pipe. */
static void await_tracer(const int *gate)
{
    char byte;

    close(gate[1]);
    if (read(gate[0], &byte, 1) < 0)
        _exit(127);
}

static _Noreturn void run_program(const struct message *message, const struct program *program, int report, const int *gate)
{
    await_tracer(gate);
    set_limits(report, program);
    report = place_descriptors(message, program, report);
    if (!program->foreground || !has_terminal())
        setsid();
    if (program->terminal && ioctl(0, TIOCSCTTY, 0) != 0)
        give_up(report, "cannot take the terminal for", program->argv[0]);
    seal_capabilities();
    if (!program->foreground)
        leave_callers_groups();
    become_user(report, program->user);
    if (chdir(program->directory) != 0 && !is_strange_directory(program))
        give_up(report, "cannot enter directory", program->directory);
    umask(022);
    reset_signals();
    environ = (char **)program->environment;
    execvpe(program->argv[0], program->argv, program->environment);
    give_up(report, "cannot run", program->argv[0]);
}

/* Let the child go on, traced if the request asks for that and if it is allowed. Returns whether it is traced. */
static bool open_gate(pid_t child, const struct program *program, const int *gate)
{
    struct shim_file shim = {shim_descriptor(program), program->entry, program->size, true};
    bool traced = child > 0 && program->shim[0] != '\0' && injection_begin(child, &shim);

    close(gate[0]);
    close(gate[1]);
    return traced;
}

static bool make_pipes(int *report, int *gate)
{
    if (pipe2(report, O_CLOEXEC) != 0)
        return false;
    if (pipe2(gate, O_CLOEXEC) == 0)
        return true;
    close(report[0]);
    close(report[1]);
    return false;
}

void spawn_answer(struct message *message)
{
    static struct program program;
    char failure[512];
    const char *untaken = NULL;
    int report[2];
    int gate[2];
    ssize_t size;
    pid_t pid;
    bool traced;
    bool was_killed = false;

    const char *wrong = read_program(message, &program);
    int *place = free_place();

    if (wrong != NULL || place == NULL || !make_pipes(report, gate)) {
        control_answer("error %s", wrong != NULL ? wrong : strerror(errno));
        message_close_descriptors(message);
        return;
    }
    pid = fork();
    if (pid == 0)
        run_program(message, &program, report[1], gate);
    traced = open_gate(pid, &program, gate);
    close(report[1]);
    if (traced)
        untaken =
            injection_await(pid, &was_killed); /* before the report: a signal stops the child, until it is continued here */
    size = pid < 0 ? 0 : read(report[0], failure, sizeof failure - 1); /* 0, end of file: exec has succeeded */
    close(report[0]);
    message_close_descriptors(message);
    if (pid >= 0 && size <= 0 && program.shim[0] != '\0' && !traced)
        untaken = injection_check(pid, &was_killed);
    if (size > 0)
        control_answer("error %.*s", (int)size, failure);
    else if (pid < 0)
        control_answer("error cannot fork: %s", strerror(errno));
    else if (untaken != NULL)
        control_answer("%s cannot bring the shim into %s: %s", was_killed ? "killed" : "error", program.argv[0], untaken);
    else {
        *place = pid;
        control_answer("ok %d", (int)pid);
    }
}
