/* Actors that are processes, killed at random moments in whatever they do: by a signal, or as actors. */
#include "rsg/rsg.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t state = 88172645463325252u;

static unsigned draw(unsigned below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)((state >> 20) % below);
}

static void live(int64_t mutex, const int64_t *boxes)
{
    char bytes[5000] = "x";
    struct rsg_message message;
    int64_t activity;

    for (;;) {
        switch (draw(8)) {
        case 0:
            rsg_put(boxes[draw(4)], bytes, draw(5000), draw(1000000), -1, 0.5);
            break;
        case 1:
            if (rsg_get(boxes[draw(4)], -1, 0.5, &message) == 0)
                free(message.bytes);
            break;
        case 2:
            rsg_put_detached(boxes[draw(4)], bytes, draw(5000), draw(1000000), -1);
            break;
        case 3:
            rsg_execute(draw(10000000), 1 + draw(3), -1);
            break;
        case 4:
            rsg_execute_async(-1, draw(10000000), 1, -1, &activity);
            break;
        case 5:
            if (rsg_lock(mutex) == 0) {
                rsg_sleep(0.01 * draw(10));
                rsg_unlock(mutex);
            }
            break;
        case 6:
            rsg_get_async(boxes[draw(4)], -1, &activity);
            break;
        default:
            rsg_sleep(0.01 * draw(20));
        }
        if (rsg_yield() != 0) /* killed as an actor */
            _exit(0);
    }
}

int main(int argc, char **argv)
{
    static const char *const hosts[] = {"Tremblay", "Jupiter", "Fafard", "Ginette"};
    int kills = argc > 1 ? atoi(argv[1]) : 100;
    int64_t own, mutex, boxes[4], pid, host, pids[16] = {0};
    pid_t children[16] = {0};
    double date;

    if (rsg_connect(0, "reaper", &own) != 0)
        return 1;
    rsg_mutex(&mutex);
    for (int i = 0; i < 4; i++)
        rsg_mailbox(hosts[i], &boxes[i]);
    for (int i = 0; i < kills + 16; i++) {
        int place = i % 16;

        if (i >= 16) {
            if (draw(2))
                kill(children[place], SIGKILL);
            else
                rsg_kill(pids[place]);
            rsg_sleep(0.001 * draw(50));
            kill(children[place], SIGKILL);
            waitpid(children[place], NULL, 0);
        }
        if (i >= kills)
            continue;
        if (rsg_host(hosts[draw(4)], &host) != 0)
            return 2;
        state += (uint64_t)i;
        children[place] = fork();
        if (children[place] == 0) {
            if (rsg_connect(0, "victim", &pid) != 0 || rsg_migrate(0, host) != 0)
                _exit(1);
            live(mutex, boxes);
        }
        rsg_sleep(0.001);
        pids[place] = i + 2; /* pids are given in the order of the connections */
    }
    rsg_clock(&date);
    printf("alive at %.9f\n", date);
    return 0;
}
