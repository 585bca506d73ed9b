// Futexes between processes: how many are woken and moved is told and true, also while waiters die; wrong counts are refused.
#include "check.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static long futex(uint32_t *word, int operation, long value, const void *fourth, uint32_t *second, uint32_t third)
{
    return syscall(SYS_futex, word, operation, value, fourth, second, third);
}

/* Children that wait for at most 100 ms: exit status 0 if woken, 1 if timed out. */
static void start_waiters(uint32_t *word, int count)
{
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            struct timespec timeout = {0, 100 * MS};

            _exit(futex(word, FUTEX_WAIT, *word, &timeout, NULL, 0) == 0 ? 0 : errno == ETIMEDOUT ? 1 : 2);
        }
    sleep_ms(30);
}

static void end_waiters(int woken, int timed_out)
{
    int counts[3] = {0};
    int status;

    while (wait(&status) > 0)
        counts[WEXITSTATUS(status)]++;
    CHECK(counts[0] == woken && counts[1] == timed_out && counts[2] == 0);
}

static void check_counts(uint32_t *word, uint32_t *other)
{
    *word = 5;
    *other = 7;
    start_waiters(word, 6);
    for (int i = 0; i < 3; i++) { /* those that are woken die while the others wait */
        CHECK(futex(word, FUTEX_WAKE, 1, NULL, NULL, 0) == 1);
        CHECK(wait(NULL) > 0);
    }
    end_waiters(0, 3);
    start_waiters(word, 8);
    CHECK_ERRNO(futex(word, FUTEX_CMP_REQUEUE, 2, (void *)3, other, 6), EAGAIN);
    CHECK(futex(word, FUTEX_CMP_REQUEUE, 2, (void *)3, other, 5) == 5);
    sleep_ms(10);
    CHECK(futex(other, FUTEX_WAKE, 100, NULL, NULL, 0) == 3);
    end_waiters(5, 3);
    start_waiters(word, 40);
    for (int i = 0; i < 20; i++) /* again and again, which now and then lets the woken go first */
        CHECK(futex(word, FUTEX_WAKE, 2, NULL, NULL, 0) == 2);
    end_waiters(40, 0);
    start_waiters(word, 2);
    CHECK(futex(word, FUTEX_WAKE_OP, 2, (void *)2, other, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 7)) == 2 && *other == 8);
    end_waiters(2, 0);
    CHECK_ERRNO(futex(word, FUTEX_REQUEUE, -1, (void *)1, other, 0), EINVAL);
    CHECK_ERRNO(futex(word, FUTEX_CMP_REQUEUE, 1, (void *)-1, other, *word), EINVAL);
}

int main(void)
{
    uint32_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int file = open("words", O_CREAT | O_RDWR, 0600);
    uint32_t *first, *second;

    CHECK(memory != MAP_FAILED && file >= 0 && ftruncate(file, 8192) == 0);
    check_counts(memory, memory + 1);
    first = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    second = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 4096);
    CHECK(first != MAP_FAILED && second != MAP_FAILED);
    check_counts(first, second);
    start_waiters(first + 1024, 2);
    CHECK(futex(second, FUTEX_WAKE, 100, NULL, NULL, 0) == 2);
    end_waiters(2, 0);
    memory = mremap(memory, 4096, 256 * 4096, MREMAP_MAYMOVE); /* the words move, but stay in shared memory */
    CHECK(memory != MAP_FAILED);
    start_waiters(memory, 2);
    CHECK(futex(memory, FUTEX_WAKE, 100, NULL, NULL, 0) == 2);
    end_waiters(2, 0);
    return succeed();
}
