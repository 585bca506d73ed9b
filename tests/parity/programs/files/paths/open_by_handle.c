// A file is opened by its handle, by those who may.
#include "check.h"

int main(void)
{
    union {
        struct file_handle handle;
        char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
    } file = {.handle.handle_bytes = MAX_HANDLE_SZ};
    int directory = open(".", O_RDONLY | O_DIRECTORY);
    int mount, opened;

    CHECK(directory >= 0);
    if (name_to_handle_at(AT_FDCWD, ".", &file.handle, &mount, 0) != 0) {
        CHECK(errno == EOPNOTSUPP || errno == EPERM);
        return succeed();
    }
    opened = open_by_handle_at(directory, &file.handle, O_RDONLY);
    CHECK(opened == directory + 1 || errno == EPERM);
    CHECK_ERRNO(open_by_handle_at(999, &file.handle, O_RDONLY), geteuid() == 0 && opened >= 0 ? EBADF : errno);
    return succeed();
}
