// Job control of a terminal: a process in the background that reads, that changes the terminal's settings, or that writes under
// `stty tostop`, gets the signal that stops its group; blocked or ignored, the signal is none; of an orphaned group the call fails.
#include "check.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <termios.h>

static int terminal;
static struct termios settings;

/* Three ways to use a terminal; each returns 0 or an errno. */
static int write_there(void)
{
    return write(terminal, "x", 1) == 1 ? 0 : errno;
}

static int read_there(void)
{
    char byte;

    return read(terminal, &byte, 1) == 1 ? 0 : errno;
}

static int set_there(void)
{
    return tcsetattr(terminal, TCSANOW, &settings) == 0 ? 0 : errno;
}

static void handler(int number)
{
    (void)number;
}

static void to_background(void)
{
    CHECK(setpgid(0, 0) == 0);
}

/* A child in the background is stopped by the signal; in the foreground it goes on. */
static void check_stopped(int (*use)(void), int number)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        to_background();
        sleep_ms(5);
        _exit(use() == 0 ? 7 : 1);
    }
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == number);
    CHECK(kill(child, SIGCONT) == 0); /* still in the background: stops again */
    CHECK(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status) && WSTOPSIG(status) == number);
    CHECK(tcsetpgrp(terminal, child) == 0 && kill(child, SIGCONT) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    signal(SIGTTOU, SIG_IGN);
    CHECK(tcsetpgrp(terminal, getpgrp()) == 0);
    signal(SIGTTOU, SIG_DFL);
}

static void check_result(int (*use)(void), int number, void (*action)(int), int is_blocked, int wanted)
{
    pid_t child = fork();
    sigset_t set;

    if (child == 0) {
        to_background();
        sigemptyset(&set);
        sigaddset(&set, number);
        CHECK(sigaction(number, &(struct sigaction){.sa_handler = action}, NULL) == 0);
        if (is_blocked)
            CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
        errno = 0;
        _exit(use() == wanted ? 0 : 1);
    }
    CHECK_CHILD(child);
}

/* A grandchild in a group of its own, whose parent ends: nobody ties the group to its session, since the reaper is of another. */
static void make_orphan(int (*use)(void), int until)
{
    pid_t parent = fork();

    if (parent == 0) {
        if (fork() == 0) {
            to_background();
            CHECK(fcntl(until, F_GETFD) >= 0);
            sleep_ms(20);
            _exit(use() == EIO ? 5 : 1);
        }
        _exit(0);
    }
    CHECK_CHILD(parent);
}

static void make_orphans(void)
{
    int ends[2];
    char byte;

    CHECK(pipe(ends) == 0);
    make_orphan(write_there, ends[1]);
    make_orphan(set_there, ends[1]);
    make_orphan(read_there, ends[1]);
    CHECK(close(ends[1]) == 0 && read(ends[0], &byte, 1) == 0); /* until all have ended */
}

static void in_session(const char *name)
{
    CHECK(setsid() == getpid());
    terminal = open(name, O_RDWR);
    CHECK(terminal >= 0 && ioctl(terminal, TIOCSCTTY, 0) == 0);
    CHECK(tcgetattr(terminal, &settings) == 0);
    settings.c_lflag &= ~(unsigned)(ICANON | ECHO);
    CHECK(set_there() == 0);
    check_result(write_there, SIGTTOU, SIG_DFL, 0, 0); /* without tostop nothing is to be said */
    settings.c_lflag |= TOSTOP;
    CHECK(set_there() == 0 && write_there() == 0);
    check_stopped(write_there, SIGTTOU);
    check_stopped(set_there, SIGTTOU);
    check_stopped(read_there, SIGTTIN);
    check_result(write_there, SIGTTOU, SIG_IGN, 0, 0);
    check_result(write_there, SIGTTOU, SIG_DFL, 1, 0);
    check_result(write_there, SIGTTOU, handler, 0, EINTR);
    check_result(set_there, SIGTTOU, handler, 1, 0);
    check_result(set_there, SIGTTOU, handler, 0, EINTR);
    check_result(read_there, SIGTTIN, SIG_IGN, 0, EIO);
    check_result(read_there, SIGTTIN, SIG_DFL, 1, EIO);
    check_result(read_there, SIGTTIN, handler, 0, EINTR);
    make_orphans();
}

int main(void)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    pid_t session;
    char name[60];
    int status;

    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, name, sizeof name) == 0);
    CHECK(write(master, "abcdef", 6) == 6);
    session = fork();
    if (session == 0) {
        in_session(name);
        _exit(0);
    }
    CHECK_CHILD(session);
    for (int i = 0; i < 3; i++)
        CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    return succeed();
}
