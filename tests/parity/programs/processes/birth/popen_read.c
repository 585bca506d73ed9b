// popen for reading: the command's lines, then its status.
#include "check.h"

int main(void)
{
    int64_t start_ns = now_ns();
    char line[50];
    FILE *stream = popen("sleep 0.02; echo one; sleep 0.02; echo two; exit 5", "r");
    int status;

    CHECK(stream != NULL);
    CHECK(fgets(line, sizeof line, stream) != NULL && strcmp(line, "one\n") == 0);
    CHECK_ELAPSED(start_ns, 20);
    CHECK(fgets(line, sizeof line, stream) != NULL && strcmp(line, "two\n") == 0);
    CHECK(fgets(line, sizeof line, stream) == NULL);
    status = pclose(stream);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 5);
    CHECK_ELAPSED(start_ns, 40);
    return succeed();
}
