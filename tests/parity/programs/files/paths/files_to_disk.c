// Everything that brings files to the disk succeeds on a file, and says EBADF where there is none.
#include "check.h"

int main(void)
{
    int file = open("written", O_RDWR | O_CREAT | O_EXCL, 0600);

    CHECK(file >= 0 && write(file, "data", 4) == 4);
    CHECK(fsync(file) == 0 && fdatasync(file) == 0 && syncfs(file) == 0);
    CHECK(sync_file_range(file, 0, 4, SYNC_FILE_RANGE_WRITE) == 0);
    CHECK_ERRNO(fsync(999), EBADF);
    CHECK_ERRNO(fdatasync(-1), EBADF);
    CHECK_ERRNO(syncfs(999), EBADF);
    if (is_emulated())
        sync(); /* natively this would wait for all that this computer has to write */
    CHECK(close(file) == 0 && unlink("written") == 0);
    return succeed();
}
