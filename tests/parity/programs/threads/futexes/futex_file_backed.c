// A futex in a file mapped by two processes at different addresses is one futex.
#include "check.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static uint32_t *map_word(void)
{
    int fd = open("word", O_CREAT | O_RDWR, 0600);
    uint32_t *word;

    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(word != MAP_FAILED && close(fd) == 0);
    return word;
}

int main(void)
{
    int64_t start_ns = now_ns();
    uint32_t *word = map_word();
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        uint32_t *other = map_word();

        CHECK(other != word);
        sleep_ms(30);
        *other = 1;
        CHECK(syscall(SYS_futex, other, FUTEX_WAKE, 10, NULL, NULL, 0) == 1);
        _exit(0);
    }
    CHECK(syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0) == 0);
    CHECK(*word == 1);
    CHECK_ELAPSED(start_ns, 30);
    CHECK_CHILD(child);
    return succeed();
}
