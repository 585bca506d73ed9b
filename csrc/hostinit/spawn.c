/* Starting one program: its descriptors, limits, user and directory, then exec; the reason if that fails. */
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
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS_MAX 8192

struct program {
    char *argv[WORDS_MAX];
    char *environment[WORDS_MAX];
    const char *directory;
    const char *user;
    long nofile;
    long core;
    int channel;
    bool foreground;
};

static int *started; /* pids whose end the server wants to know of; 0: free */
static size_t started_size;

/* A place to note a pid in, made if need be; NULL without memory. */
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

/* Whether the server asked for this process; forgets it. */
bool spawn_was_asked_for(int pid)
{
    for (size_t i = 0; i < started_size; i++)
        if (started[i] == pid) {
            started[i] = 0;
            return true;
        }
    return false;
}

/* NULL, or what is wrong with the request. */
static const char *read_program(const struct message *message, struct program *program)
{
    static const char too_many[] = "more than 8191 arguments or variables for a program";
    size_t arguments = 0;
    size_t variables = 0;
    const char *value;

    program->directory = "/"; /* one by one: clearing the lists would give every host 128 KiB to keep */
    program->user = "";
    program->nofile = 1024;
    program->core = -1;
    program->channel = 1024;
    program->foreground = false;
    for (const char *word = NULL; (word = message_next(message, word)) != NULL;) {
        if ((value = word_value(word, "argv")) != NULL)
            program->argv[arguments++] = (char *)value;
        else if ((value = word_value(word, "env")) != NULL)
            program->environment[variables++] = (char *)value;
        else if ((value = word_value(word, "cwd")) != NULL)
            program->directory = value;
        else if ((value = word_value(word, "user")) != NULL)
            program->user = value;
        else if ((value = word_value(word, "nofile")) != NULL)
            program->nofile = strtol(value, NULL, 10);
        else if ((value = word_value(word, "core")) != NULL)
            program->core = strtol(value, NULL, 10);
        else if ((value = word_value(word, "channel")) != NULL)
            program->channel = (int)strtol(value, NULL, 10);
        else if ((value = word_value(word, "foreground")) != NULL)
            program->foreground = value[0] == '1';
        if (arguments == WORDS_MAX || variables == WORDS_MAX)
            return too_many;
    }
    program->argv[arguments] = program->environment[variables] = NULL;
    return arguments > 0 && message->fd_count == DESCRIPTORS ? NULL : "malformed request to start a program";
}

/* Tell the parent what failed, and end. */
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

/* What a process has after a boot of Debian. Whoever started simunix may have others, and they decide where a stack lies, how
 * large threads' stacks are, what clients of a cluster tell its daemons: a run would depend on the shell that it is started from. */
static const struct {
    int which;
    rlim_t soft;
} BOOT_LIMITS[] = {
    {RLIMIT_STACK, 8 << 20},      {RLIMIT_MEMLOCK, 8 << 20},     {RLIMIT_MSGQUEUE, 819200},    {RLIMIT_CPU, RLIM_INFINITY},
    {RLIMIT_FSIZE, RLIM_INFINITY}, {RLIMIT_DATA, RLIM_INFINITY},  {RLIMIT_RSS, RLIM_INFINITY},  {RLIMIT_AS, RLIM_INFINITY},
    {RLIMIT_LOCKS, RLIM_INFINITY}, {RLIMIT_RTTIME, RLIM_INFINITY}, {RLIMIT_NICE, 0},             {RLIMIT_RTPRIO, 0},
};

/* The soft limits; the hard ones stay, as they are the administrator's. */
static void set_boot_limits(void)
{
    struct rlimit limit;

    for (size_t i = 0; i < sizeof BOOT_LIMITS / sizeof *BOOT_LIMITS; i++)
        if (getrlimit(BOOT_LIMITS[i].which, &limit) == 0) {
            limit.rlim_cur = BOOT_LIMITS[i].soft < limit.rlim_max ? BOOT_LIMITS[i].soft : limit.rlim_max;
            setrlimit(BOOT_LIMITS[i].which, &limit);
        }
}

static void set_limits(int report, const struct program *program)
{
    struct rlimit files = {(rlim_t)program->nofile, (rlim_t)program->nofile};
    struct rlimit none = {0, 0};
    cpu_set_t cores;

    if (!program->foreground) /* a command in the user's own terminal keeps the user's own */
        set_boot_limits();
    setrlimit(RLIMIT_CORE, &none);
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        give_up(report, "cannot allow open files for", program->argv[0]);
    if (program->core >= 0) {
        CPU_ZERO(&cores);
        CPU_SET((size_t)program->core, &cores);
        sched_setaffinity(0, sizeof cores, &cores);
    }
    personality(ADDR_NO_RANDOMIZE); /* the same addresses in every run */
}

static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* stdin, stdout, stderr at 0 to 2, the channel where the shim expects it, the report closing by itself on exec. */
static int place_descriptors(const struct message *message, int report, int channel)
{
    int hidden = fcntl(report, F_DUPFD_CLOEXEC, channel + 1);

    if (hidden < 0 || fcntl(message->fds[3], F_DUPFD, channel) != channel) /* nothing else is open up there */
        give_up(report, "cannot place the channel above", "the program's own descriptors");
    for (int i = 0; i < 3; i++)
        dup2(message->fds[i], i);
    close_range(3, (unsigned)channel - 1, 0);
    return hidden;
}

/* Who joins from a folder that this root does not have begins in its /. */
static bool is_strange_directory(const struct program *program)
{
    return program->foreground && root_is_entered() && errno == ENOENT && chdir("/") == 0;
}

/* The caller's own terminal: the program stays in the caller's group, which is the one that may read from it. Without one, the
 * group is its own, so that kill(0) ends nobody outside. */
static bool has_terminal(void)
{
    return isatty(0) || isatty(1) || isatty(2);
}

static _Noreturn void run_program(const struct message *message, const struct program *program, int report)
{
    set_limits(report, program);
    report = place_descriptors(message, report, program->channel);
    if (!program->foreground || !has_terminal())
        setsid();
    become_user(report, program->user);
    if (chdir(program->directory) != 0 && !is_strange_directory(program))
        give_up(report, "cannot enter directory", program->directory);
    umask(022);
    reset_signals();
    environ = (char **)program->environment;
    execvpe(program->argv[0], program->argv, program->environment);
    give_up(report, "cannot run", program->argv[0]);
}

void spawn_answer(struct message *message)
{
    static struct program program;
    char failure[512];
    int report[2];
    ssize_t size;
    pid_t pid;

    const char *wrong = read_program(message, &program);
    int *place = free_place();

    if (wrong != NULL || place == NULL || pipe2(report, O_CLOEXEC) != 0) {
        control_answer("error %s", wrong != NULL ? wrong : strerror(errno));
        message_close_descriptors(message);
        return;
    }
    pid = fork();
    if (pid == 0)
        run_program(message, &program, report[1]);
    close(report[1]);
    size = pid < 0 ? 0 : read(report[0], failure, sizeof failure - 1); /* end of file: exec has worked */
    close(report[0]);
    message_close_descriptors(message);
    if (size > 0)
        control_answer("error %.*s", (int)size, failure);
    else if (pid < 0)
        control_answer("error cannot fork: %s", strerror(errno));
    else {
        *place = pid;
        control_answer("ok %d", (int)pid);
    }
}
