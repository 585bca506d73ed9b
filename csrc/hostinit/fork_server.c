/* The process from which hosts are cloned. A clone of the server would copy the server's memory, a clone of the broker
 * would copy the broker's descriptors. The fork server has little memory and few descriptors, so that the last host
 * costs no more than the first. When the server or the broker is killed, this process lives on until the kernel's
 * settings are put back. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

static struct message message;

static const struct {
    const char *key;
    void (*run)(const struct message *message, const char *value);
} requests[] = {
    {"namespaces", birth_answer},
    {"await", death_answer},
    {"ksm", ksm_answer},
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

static _Noreturn void serve(void)
{
    while (control_receive(&message))
        answer();
    ksm_end();
    children_signal(
        SIGCONT); /* a host may have been stopped before it asked the kernel for a signal at its parent's end (birth.c) */
    _exit(0);     /* hosts in namespaces of their own die with this process, other hosts when their control sockets close */
}

/* Start the fork server; returns the end of a socket for requests to it, or -1. */
int fork_server_start(pid_t *process)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    *process = fork();
    if (*process == 0) {
        children_outlive_none();
        dup2(ends[1], CONTROL);
        close(ends[0]);
        close(ends[1]);
        serve();
    }
    close(ends[1]);
    if (*process > 0)
        return ends[0];
    close(ends[0]);
    return -1;
}
