// Making, renaming and removing names writes to the folders; a file with a name more or less, or another one, has changed.
// native: slow
#include "file_times.h"

#include <sys/socket.h>
#include <sys/un.h>

static int bind_name(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    strcpy(address.sun_path, path);
    return bind(fd, (struct sockaddr *)&address, sizeof address);
}

static void check_new_names(int a)
{
    STEP("a", WRITES, mkdir("a/folder", 0700));
    CHECK_NEW("a/folder");
    STEP("a", WRITES, mkdirat(a, "other/", 0700));
    STEP("a", WRITES, close(open("a/file", O_CREAT | O_WRONLY, 0600)));
    CHECK_NEW("a/file");
    STEP("a", KEEPS, close(open("a/file", O_CREAT | O_WRONLY, 0600)));
    STEP("a", WRITES, mknod("a/fifo", S_IFIFO | 0600, 0));
    CHECK_NEW("a/fifo");
    STEP("a", WRITES, mknodat(a, "fifo2", S_IFIFO | 0600, 0));
    STEP("a", WRITES, symlink("file", "a/soft"));
    CHECK_NEW("a/soft");
    STEP("a", WRITES, symlinkat("file", a, "soft2"));
    STEP("a", WRITES, bind_name("a/socket"));
    CHECK_NEW("a/socket");
    STEP("a", WRITES, link("a/file", "a/hard"));
    STEP("a/file", CHANGES, linkat(a, "file", a, "hard2", 0));
    STEP(".", KEEPS, mkdir("a/deep", 0700));
}

static void check_renames(int a, int b)
{
    STEP("a", WRITES, rename("a/file", "a/moved"));
    STEP("b", WRITES, renameat(a, "moved", b, "file"));
    STEP("a", WRITES, renameat2(b, "file", a, "file", 0));
    CHECK(close(creat("b/new", 0600)) == 0);
    STEP("b", WRITES, rename("b/new", "b/newer"));
    STEP("a/hard", CHANGES, rename("b/newer", "a/hard2")); /* a name less */
    STEP("a", KEEPS, rename("a/hard", "a/file"));          /* two names of one file: nothing happens */
}

static void check_removals(int a)
{
    STEP("a/hard", CHANGES, unlink("a/file"));
    STEP("a", WRITES, unlink("a/hard"));
    STEP("a", WRITES, unlinkat(a, "soft", 0));
    STEP("a", WRITES, rmdir("a/folder"));
    STEP("a", WRITES, unlinkat(a, "other", AT_REMOVEDIR));
    STEP(".", KEEPS, rmdir("a/deep"));
}

int main(void)
{
    int a, b;

    CHECK(mkdir("a", 0700) == 0 && mkdir("b", 0700) == 0);
    CHECK_NEW("a");
    a = open("a", O_RDONLY | O_DIRECTORY);
    b = open("b", O_RDONLY | O_DIRECTORY);
    check_new_names(a);
    check_renames(a, b);
    check_removals(a);
    return succeed();
}
