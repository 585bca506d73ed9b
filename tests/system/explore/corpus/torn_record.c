/* A record of two pages is overwritten in place: a power cut leaves half of each. Mended: of two copies the older one is
 * overwritten, and a sum tells which one is whole. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct record {
    unsigned number, sum;
    unsigned words[2046];
};

static unsigned sum_of(const struct record *record)
{
    unsigned sum = record->number * 31 + 7;

    for (int n = 0; n < 2046; n++)
        sum = sum * 31 + record->words[n];
    return sum;
}

static int is_whole(int file, int copy, struct record *record)
{
    if (pread(file, record, sizeof *record, copy * sizeof *record) != sizeof *record)
        return 0;
    return record->sum == sum_of(record);
}

static void put(int file, unsigned number)
{
    struct record record = {.number = number};
    int copy = 0;

    for (int n = 0; n < 2046; n++)
        record.words[n] = number;
    record.sum = sum_of(&record);
#ifdef MENDED
    copy = number % 2;
#endif
    if (pwrite(file, &record, sizeof record, copy * sizeof record) != sizeof record)
        _exit(2);
    usleep(200000); /* others join the commit */
    fsync(file);
}

int main(void)
{
    int is_new = access("/srv/record", F_OK) != 0;
    int file = open("/srv/record", O_RDWR | O_CREAT, 0600);
    struct record found;
    unsigned latest = 0;
    int whole = 0;

    for (int copy = 0; copy < 2; copy++)
        if (is_whole(file, copy, &found)) {
            whole++;
            latest = found.number > latest ? found.number : latest;
        }
    if (!is_new && whole == 0 && access("/srv/ready", F_OK) == 0)
        return 1;
    put(file, latest + 1);
    put(file, latest + 2);
    fsync(open("/srv", O_RDONLY));
    close(open("/srv/ready", O_WRONLY | O_CREAT, 0600));
    for (unsigned n = 3; n < 40; n++) {
        put(file, latest + n);
        usleep(300000);
    }
    return 0;
}
