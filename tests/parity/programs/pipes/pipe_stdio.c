// stdio waits inside libc: fgets on a pipe from a child that writes lines slowly.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    char line[50];
    FILE *stream;
    int ends[2];
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        FILE *out = fdopen(ends[1], "w");

        for (int i = 0; i < 3; i++) {
            sleep_ms(20);
            CHECK(fprintf(out, "line %d\n", i) == 7 && fflush(out) == 0);
        }
        _exit(0);
    }
    CHECK(close(ends[1]) == 0);
    stream = fdopen(ends[0], "r");
    for (int i = 0; i < 3; i++) {
        CHECK(fgets(line, sizeof line, stream) != NULL && line[5] == '0' + i);
        CHECK(now_ns() - start_ns >= 20 * (i + 1) * MS);
    }
    CHECK(fgets(line, sizeof line, stream) == NULL && feof(stream));
    CHECK_ELAPSED(start_ns, 60);
    CHECK_CHILD(child);
    return succeed();
}
