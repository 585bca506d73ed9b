// Two processes, or three in a ring, that wait for each other's record locks: the one that closes the ring gets EDEADLK.
#include "check.h"

#define MOST 3

static int file, ready[2];

static int lock(short type, int byte, int command)
{
    struct flock wanted = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return fcntl(file, command, &wanted);
}

/* Holds its own byte, then waits for the next one's. */
static pid_t member(int number, int count)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        CHECK(lock(F_WRLCK, number, F_SETLK) == 0 && write(ready[1], "x", 1) == 1);
        sleep_ms(20 + 20 * number);
        CHECK(lock(F_WRLCK, (number + 1) % count, F_SETLKW) == 0);
        _exit(0);
    }
    return child;
}

static void ring(int count)
{
    pid_t children[MOST];
    char byte;

    for (int number = 1; number < count; number++) {
        children[number] = member(number, count);
        CHECK(read(ready[0], &byte, 1) == 1);
    }
    CHECK(lock(F_WRLCK, 0, F_SETLK) == 0);
    sleep_ms(200);
    CHECK_ERRNO(lock(F_WRLCK, 1, F_SETLKW), EDEADLK);
    CHECK(lock(F_UNLCK, 0, F_SETLK) == 0);
    for (int number = 1; number < count; number++)
        CHECK_CHILD(children[number]);
}

int main(void)
{
    file = open("fcntl_lock_deadlock.lock", O_CREAT | O_RDWR, 0600);
    CHECK(file >= 0 && pipe(ready) == 0);
    ring(2);
    ring(3);
    CHECK(unlink("fcntl_lock_deadlock.lock") == 0);
    return succeed();
}
