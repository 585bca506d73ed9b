// gethostname, uname and the hostname program say the same; an address can be found for it.
// musl: no (musl cuts a long host name short without an error)
#include "check.h"

#include <sys/utsname.h>

int main(void)
{
    char name[100], printed[100] = "";
    struct utsname system;
    FILE *stream;

    CHECK(gethostname(name, sizeof name) == 0 && name[0] != 0);
    CHECK(uname(&system) == 0 && strcmp(system.nodename, name) == 0);
    CHECK(strcmp(system.sysname, "Linux") == 0 && strcmp(system.machine, "x86_64") == 0);
    stream = popen("uname -n", "r");
    CHECK(stream != NULL && fgets(printed, sizeof printed, stream) != NULL && pclose(stream) == 0);
    printed[strcspn(printed, "\n")] = 0;
    CHECK(strcmp(printed, name) == 0);
    CHECK_ERRNO(gethostname(name, 1), ENAMETOOLONG);
    return succeed();
}
