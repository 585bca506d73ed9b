// kill(-1) reaches every process of the host that the sender may signal, itself excepted; kill(0) its own group, itself as well.
// native: no (it would reach everything on this computer)
#include "check.h"

static volatile sig_atomic_t heard;

static void hear(int signal)
{
    (void)signal;
    heard++;
}

static pid_t sleeper(int (*apart)(void))
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(apart == NULL || apart() >= 0);
        sleep_ms(50);
        _exit(heard);
    }
    return child;
}

static int own_group(void)
{
    return setpgid(0, 0);
}

static int own_session(void)
{
    return setsid();
}

static int status_of(pid_t child)
{
    int status;

    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* SIGCONT harms nobody, should this ever run where it is not confined. */
static void reaches(pid_t target, int self, int others)
{
    pid_t same, group, session;

    heard = 0;
    same = sleeper(NULL);
    group = sleeper(own_group);
    session = sleeper(own_session);
    sleep_ms(10);
    CHECK(kill(target, SIGCONT) == 0 && heard == self);
    CHECK(status_of(same) == 1 && status_of(group) == others && status_of(session) == others);
}

int main(void)
{
    CHECK(is_emulated() && signal(SIGCONT, hear) != SIG_ERR);
    reaches(0, 1, 0);
    reaches(-1, 0, 1);
    return succeed();
}
