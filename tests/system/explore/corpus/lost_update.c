/* Lost update: two processes read a number, add one, and write it back. Mended: they lock the file meanwhile. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

static int value(int file)
{
    char text[32] = {0};

    return pread(file, text, sizeof text - 1, 0) < 0 ? -1 : atoi(text);
}

static void add_one(void)
{
    char text[32];
    int file = open("/tmp/count", O_RDWR), size;

#ifdef MENDED
    flock(file, LOCK_EX);
#endif
    size = snprintf(text, sizeof text, "%d\n", value(file) + 1);
    if (pwrite(file, text, size, 0) != size)
        _exit(2);
    close(file);
}

int main(void)
{
    int file = open("/tmp/count", O_RDWR | O_CREAT | O_TRUNC, 0600);

    for (int n = 0; n < 2; n++)
        if (fork() == 0) {
            add_one();
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return value(file) != 2;
}
