/* Non-atomic replacement: a reader may see the new file before it is written. Mended: it is written beside and renamed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void put(const char *name, const char *text)
{
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (write(file, text, strlen(text)) < 0)
        _exit(2);
    close(file);
}

static int reads(void)
{
    char text[16] = {0};
    int file = open("/tmp/state", O_RDONLY);

    if (read(file, text, sizeof text - 1) < 0)
        _exit(2);
    return strcmp(text, "old") != 0 && strcmp(text, "new") != 0;
}

int main(void)
{
    int status, torn = 0;

    put("/tmp/state", "old");
    if (fork() == 0) {
#ifdef MENDED
        put("/tmp/state.new", "new");
        rename("/tmp/state.new", "/tmp/state");
#else
        put("/tmp/state", "new");
#endif
        _exit(0);
    }
    if (fork() == 0)
        _exit(reads());
    while (wait(&status) > 0)
        torn += WEXITSTATUS(status);
    return torn;
}
