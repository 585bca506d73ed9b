/* A new file is renamed before its content is on the disk: a power cut leaves an empty or torn one. Mended: fsync comes first. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE 3000

static void put(char letter)
{
    char text[SIZE];
    int file = open("/srv/state.new", O_WRONLY | O_CREAT | O_TRUNC, 0600);

    memset(text, letter, sizeof text);
    if (write(file, text, sizeof text) != SIZE)
        _exit(2);
#ifdef MENDED
    fsync(file);
#endif
    close(file);
    rename("/srv/state.new", "/srv/state");
}

static int is_whole(void)
{
    char text[SIZE + 1] = {0};
    int file = open("/srv/state", O_RDONLY);

    if (file < 0) /* before the first one */
        return 1;
    if (read(file, text, sizeof text) != SIZE)
        return 0;
    close(file);
    for (int n = 1; n < SIZE; n++)
        if (text[n] != text[0])
            return 0;
    return text[0] >= 'a';
}

int main(void)
{
    if (!is_whole())
        return 1;
    for (int n = 0; n < 20; n++) {
        put('a' + n);
        sleep(1);
    }
    return 0;
}
