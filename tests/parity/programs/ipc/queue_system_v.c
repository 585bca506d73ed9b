// A System V message queue: a receive waits for another process's message.
#include "check.h"

#include <sys/ipc.h>
#include <sys/msg.h>

struct message {
    long type;
    char text[8];
};

int main(void)
{
    struct message message = {.type = 3, .text = "hello"};
    int64_t start_ns = now_ns();
    int queue = msgget(IPC_PRIVATE, 0600);
    pid_t child;

    CHECK(queue >= 0);
    CHECK_ERRNO(msgrcv(queue, &message, sizeof message.text, 0, IPC_NOWAIT), ENOMSG);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        sleep_ms(30);
        _exit(msgsnd(queue, &message, sizeof message.text, 0));
    }
    message.text[0] = 0;
    CHECK(msgrcv(queue, &message, sizeof message.text, 3, 0) == sizeof message.text);
    CHECK(strcmp(message.text, "hello") == 0);
    CHECK_ELAPSED(start_ns, 30);
    CHECK(msgctl(queue, IPC_RMID, NULL) == 0);
    CHECK_CHILD(child);
    return succeed();
}
