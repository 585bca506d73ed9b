// stdio over a connection: fprintf on one side, fgets on the other.
#include "inet.h"

int main(void)
{
    int ends[2];
    char line[40];
    FILE *stream;
    pid_t child;

    tcp_pair(ends);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(close(ends[0]) == 0);
        stream = fdopen(ends[1], "w");
        for (int i = 0; i < 200; i++)
            CHECK(fprintf(stream, "line %d\n", i) > 0);
        exit(0);
    }
    CHECK(close(ends[1]) == 0);
    stream = fdopen(ends[0], "r");
    for (int i = 0; i < 200; i++)
        CHECK(fgets(line, sizeof line, stream) != NULL && atoi(line + 5) == i);
    CHECK(fgets(line, sizeof line, stream) == NULL && feof(stream));
    CHECK_CHILD(child);
    return succeed();
}
