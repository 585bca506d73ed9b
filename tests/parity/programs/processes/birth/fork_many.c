// Sixty children at once, each writing its number into one pipe.
#include "check.h"

enum { CHILDREN = 60 };

int main(void)
{
    unsigned char seen[CHILDREN] = {0};
    unsigned char number;
    pid_t children[CHILDREN];
    int ends[2];

    CHECK(pipe(ends) == 0);
    for (number = 0; number < CHILDREN; number++) {
        children[number] = fork();
        CHECK(children[number] >= 0);
        if (children[number] == 0) {
            sleep_ms(10);
            _exit(write(ends[1], &number, 1) != 1);
        }
    }
    CHECK(close(ends[1]) == 0);
    for (int i = 0; i < CHILDREN; i++) {
        CHECK(read(ends[0], &number, 1) == 1 && number < CHILDREN && !seen[number]);
        seen[number] = 1;
    }
    CHECK(read(ends[0], &number, 1) == 0);
    for (int i = 0; i < CHILDREN; i++)
        CHECK_CHILD(children[i]);
    return succeed();
}
