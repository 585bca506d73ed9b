// Writes of up to PIPE_BUF by two processes that compete for a full pipe are not mixed.
#include "check.h"

#include <limits.h>

enum { WRITES = 40 };

int main(void)
{
    char block[PIPE_BUF];
    int counts[2] = {0, 0};
    int ends[2];
    pid_t children[2];

    CHECK(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) {
        children[i] = fork();
        CHECK(children[i] >= 0);
        if (children[i] == 0) {
            memset(block, 'a' + i, sizeof block);
            for (int w = 0; w < WRITES; w++)
                CHECK(write(ends[1], block, sizeof block) == sizeof block);
            _exit(0);
        }
    }
    CHECK(close(ends[1]) == 0);
    for (int w = 0; w < 2 * WRITES; w++) {
        size_t got = 0;

        while (got < sizeof block) {
            ssize_t part = read(ends[0], block + got, sizeof block - got);

            CHECK(part > 0);
            got += part;
        }
        for (size_t i = 1; i < sizeof block; i++)
            CHECK(block[i] == block[0]);
        counts[block[0] - 'a']++;
    }
    CHECK(counts[0] == WRITES && counts[1] == WRITES);
    CHECK_CHILD(children[0]);
    CHECK_CHILD(children[1]);
    return succeed();
}
