/* The factory of hosts: two small processes per run. The first process holds the hosts' control sockets and passes
 * messages on (broker.c); hosts are cloned from its child, the fork server (fork_server.c). */
#define _GNU_SOURCE
#include "hostinit.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Signals that a terminal or a service manager sends to the whole process group; the server acts on them. */
static const int left_to_server[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static bool is_server(int fd)
{
    int type = 0;
    socklen_t size = sizeof type;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

/* Reset the attributes that hosts would inherit from the caller's shell, and on which a run would depend: the umask,
 * the scheduling policy, the OOM score. The nice value stays, as a caller may want to leave the computer to others; the
 * shim shows 0. An attribute that an ordinary user may not change stays as it is. */
static void leave_callers_settings(void)
{
    static const struct sched_param ordinary = {.sched_priority = 0};
    int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    umask(022);
    if (sched_getscheduler(0) != SCHED_OTHER)
        sched_setscheduler(0, SCHED_OTHER, &ordinary);
    if (score >= 0 && write(score, "0", 1) == 1)
        close(score);
}

/* Start this program again without address randomisation, since hosts read the addresses of their first process in
 * /proc/1/stat. */
static void begin_at_fixed_addresses(char **arguments)
{
    int persona = personality(0xffffffff);

    if (persona >= 0 && (persona & ADDR_NO_RANDOMIZE) == 0 && personality((unsigned)persona | ADDR_NO_RANDOMIZE) >= 0)
        execv(arguments[0], arguments); /* if this fails, the program goes on with randomised addresses */
}

/* The server passes its socket as standard input, so that the server need not run code between fork and exec. */
int main(int count, char **arguments)
{
    (void)count;
    children_outlive_none();
    begin_at_fixed_addresses(arguments);
    if (!is_server(STDIN_FILENO) || dup2(STDIN_FILENO, CONTROL) < 0) {
        fprintf(stderr, "simunix-hostinit is started by simunix\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof left_to_server / sizeof left_to_server[0]; i++)
        signal(left_to_server[i], SIG_IGN);
    /* The first process of a host that has ended keeps its number until the fork server waits for it, so the number
     * cannot mean another process. */
    signal(SIGCHLD, SIG_DFL);
    close(STDIN_FILENO);
    open("/dev/null", O_RDONLY);
    fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
    leave_callers_settings();
    return broker_run();
}
