/* Processes as actors: a fork, a thread, real bytes, and more of them than one request takes. */
#include "rsg/rsg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGE 100000

static int64_t box, answers;

static int in_thread(void *argument)
{
    double date;

    rsg_sleep(2);
    rsg_clock(&date);
    printf("thread %s at %.12f\n", (char *)argument, date);
    return 0;
}

static void child(void)
{
    struct rsg_message message;
    struct rsg_actor_state self;
    size_t sum = 0;

    rsg_actor(0, &self);
    rsg_get(box, -1, -1, &message);
    for (size_t i = 0; i < message.length; i++)
        sum += ((unsigned char *)message.bytes)[i];
    free(message.bytes);
    rsg_execute(98095000, 1, -1);
    printf("%s of %d got %zu bytes as %.0f\n", self.name, (int)self.parent, message.length, message.size);
    rsg_put(answers, &sum, sizeof sum, 8, -1, -1);
    fflush(stdout);
    exit(0);
}

int main(void)
{
    unsigned char *bytes = malloc(LARGE);
    struct rsg_message message;
    int64_t own, pid, host, is_late;
    double date;
    size_t sum = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (rsg_connect_from_environment("parent", &own) != 0 || rsg_host("Jupiter", &host) != 0)
        return 1;
    rsg_mailbox("box", &box);
    rsg_mailbox("answers", &answers);
    if (rsg_actor_fork(host, "child", &pid) != 0)
        return 2;
    if (pid == 0)
        child();
    if (rsg_actor_start(host, "thread", in_thread, "one", &pid) != 0)
        return 3;
    for (size_t i = 0; i < LARGE; i++)
        sum += bytes[i] = (unsigned char)(i * 7);
    rsg_put(box, bytes, LARGE, 1e9, -1, -1);
    rsg_clock(&date);
    printf("sent at %.12f\n", date);
    rsg_get(answers, -1, -1, &message);
    printf("the sum is %s\n", *(size_t *)message.bytes == sum ? "right" : "wrong");
    rsg_join(pid, -1, &is_late);
    return 0;
}
