// A System V message queue that is full makes the sender wait for a receiver.
#include "check.h"

#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    char text[4096];
};

int main(void)
{
    static struct message message = {.type = 1};
    int64_t start_ns = now_ns();
    int queue = msgget(IPC_PRIVATE, 0600);
    pid_t child;

    CHECK(queue >= 0);
    while (msgsnd(queue, &message, sizeof message.text, IPC_NOWAIT) == 0)
        continue;
    CHECK(errno == EAGAIN);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(20);
        _exit(msgrcv(queue, &message, sizeof message.text, 0, 0) != sizeof message.text);
    }
    CHECK(msgsnd(queue, &message, sizeof message.text, 0) == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
    CHECK_CHILD(child);
    return succeed();
}
