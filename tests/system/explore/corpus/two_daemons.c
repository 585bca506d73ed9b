/* Check, then act: two daemons see that there is no pid file, and both start. Mended: the file is made by O_EXCL. */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static int starts(void)
{
#ifdef MENDED
    return open("/tmp/daemon.pid", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0;
#else
    if (access("/tmp/daemon.pid", F_OK) == 0)
        return 0;
    return open("/tmp/daemon.pid", O_WRONLY | O_CREAT, 0600) >= 0;
#endif
}

int main(void)
{
    int status, started = 0;

    for (int n = 0; n < 2; n++)
        if (fork() == 0)
            _exit(starts());
    while (wait(&status) > 0)
        started += WEXITSTATUS(status);
    return started != 1;
}
