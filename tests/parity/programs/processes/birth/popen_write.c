// popen for writing: the command reads what is written until pclose.
#include "check.h"

int main(void)
{
    char data[20] = "";
    FILE *stream = popen("cat > copied", "w");
    int fd;

    CHECK(stream != NULL && fputs("to be copied", stream) >= 0);
    sleep_ms(10);
    CHECK(pclose(stream) == 0);
    fd = open("copied", O_RDONLY);
    CHECK(fd >= 0 && read(fd, data, sizeof data) == 12 && strcmp(data, "to be copied") == 0);
    return succeed();
}
