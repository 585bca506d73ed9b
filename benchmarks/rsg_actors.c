/* Two actors for `simunix bench rsg`, on librsg: a ping-pong without Python. rsg_actors ping-pong 2 ROUNDS */
#include "rsg/rsg.h"

#include <stdio.h>
#include <stdlib.h>

static int rounds;

static int play(void *argument)
{
    const char *const *names = argument;
    int64_t to, from;
    struct rsg_message message;

    rsg_mailbox(names[0], &to);
    rsg_mailbox(names[1], &from);
    for (int i = 0; i < rounds / 2; i++) {
        if (names[2] != NULL && rsg_put(to, "x", 1, 1, -1, -1) != 0)
            return 1;
        if (rsg_get(from, -1, -1, &message) != 0)
            return 1;
        free(message.bytes);
        if (names[2] == NULL && rsg_put(to, "x", 1, 1, -1, -1) != 0)
            return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *ping[] = {"there", "back", "begins"}, *pong[] = {"back", "there", NULL};
    int64_t one, two, pid;
    double date;

    rounds = argc > 3 ? atoi(argv[3]) : 1000;
    if (rsg_host("one", &one) != 0 || rsg_host("two", &two) != 0)
        return 1;
    rsg_actor_start(one, "ping", play, ping, &pid);
    rsg_actor_start(two, "pong", play, pong, &pid);
    rsg_run(-1);
    rsg_clock(&date);
    printf("%.9f\n", date);
    return 0;
}
