/* Does work that takes its time in a child process, while this process attends to the network. */
#include "job.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct working {
    struct source end; /* the pipe whose other end the child holds */
    pid_t child;
    finished done;
    void *context;
};

static void has_ended(struct source *source)
{
    struct working *working = (struct working *)source;
    int status;

    close(source->fd); /* the child, which had the other end, has ended */
    if (waitpid(working->child, &status, 0) != working->child)
        status = -1;
    working->done(working->context, status == 0);
    free(working);
}

void run_beside(void (*work)(const void *what), const void *what, finished done, void *context)
{
    struct working *working = allocate(1, sizeof *working);
    int ends[2];

    fflush(stdout);
    if (pipe(ends) != 0 || (working->child = fork()) < 0)
        fail("cannot start a child: %m");
    if (working->child == 0) { /* keep the end of the pipe only: other ranks wait for connections to be closed */
        dup2(ends[1], STDERR_FILENO + 1);
        syscall(SYS_close_range, STDERR_FILENO + 2, ~0U, 0);
        work(what);
        _exit(0);
    }
    close(ends[1]);
    working->end = (struct source){ends[0], has_ended};
    working->done = done;
    working->context = context;
    exchange_watch(&working->end);
}
