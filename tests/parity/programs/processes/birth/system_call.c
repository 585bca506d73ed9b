// system() waits for the shell and returns its status; SIGCHLD's handler is left as it was.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    int status = system("sleep 0.03; exit 3");

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
    CHECK_ELAPSED(start_ns, 30);
    status = system("kill -TERM $$");
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    CHECK(WEXITSTATUS(system("/does/not/exist 2>/dev/null")) == 127);
    CHECK(system(NULL) != 0);
    return succeed();
}
