/* The factory of hosts: one small process per run. Hosts are cloned from it, not from the server, whose memory would be copied
 * each time; and it outlives a server that is killed, for as long as it takes to put the kernel's settings back. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static struct message message;

/* What a terminal or a service manager sends to the whole group is for the server to act on. */
static const int left_to_server[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static const struct {
    const char *key;
    void (*run)(const struct message *message, const char *value);
} requests[] = {
    {"namespaces", birth_answer},
    {"await", death_answer},
    {"merging", merging_answer},
};

static void answer(void)
{
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        const char *value = word_value(message.text, requests[i].key);

        if (value != NULL) {
            requests[i].run(&message, value);
            return;
        }
    }
    control_answer("error unknown request %s", message.text);
}

/* The server's socket comes as standard input: nothing has to be done between its fork and exec. */
int main(void)
{
    if (dup2(STDIN_FILENO, CONTROL) < 0 || !control_receive(&message)) {
        fprintf(stderr, "simunix-hostinit is started by simunix\n");
        return 2;
    }
    close(STDIN_FILENO);
    open("/dev/null", O_RDONLY);
    fcntl(CONTROL, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < sizeof left_to_server / sizeof left_to_server[0]; i++)
        signal(left_to_server[i], SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* hosts that end leave nothing to be reaped */
    do
        answer();
    while (control_receive(&message));
    merging_end();
    return 0; /* hosts in namespaces of their own die with us, the others when their control sockets close */
}
