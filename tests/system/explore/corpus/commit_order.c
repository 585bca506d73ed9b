/* A journal's entry and its commit mark reach the disk in any order: after a power cut a mark commits what is not there.
 * Mended: the entry is synced before the mark is written. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ENTRY 4096
#define MARK 512

int main(void)
{
    static char entry[ENTRY], mark[MARK];
    int file = open("/srv/journal", O_RDWR | O_CREAT, 0600);
    long at = 0;

    while (pread(file, entry, ENTRY, at) == ENTRY && pread(file, mark, MARK, at + ENTRY) == MARK && mark[0] == 'c') {
        if (entry[0] != 'e' || entry[ENTRY - 1] != 'e')
            return 1;
        at += ENTRY + MARK;
    }
    for (int n = 0; n < 20; n++) {
        memset(entry, 'e', ENTRY);
        memset(mark, 'c', MARK);
        if (pwrite(file, entry, ENTRY, at) != ENTRY)
            return 2;
#ifdef MENDED
        fsync(file);
#endif
        if (pwrite(file, mark, MARK, at + ENTRY) != MARK)
            return 2;
        usleep(300000);
        fsync(file);
        usleep(500000);
        at += ENTRY + MARK;
    }
    return 0;
}
