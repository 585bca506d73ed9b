// Memory policies of threads and of mappings are kept as they were set: through fork and exec, and refused where Linux refuses them.
#include "check.h"

#include <sys/mman.h>
#include <sys/syscall.h>

enum { DEFAULT, PREFERRED, BIND, INTERLEAVE, LOCAL, PREFERRED_MANY };
#define STATIC_NODES (1 << 15)
#define RELATIVE_NODES (1 << 14)
#define OF_NODE 1UL
#define OF_ADDRESS 2UL
#define ALLOWED 4UL
#define MOVE 2
#define PAGE 4096
#define SYS_HOME_NODE 450
#define BITS 1024UL

typedef unsigned long word;

static word one[BITS / 64] = {1}, none[BITS / 64], far[BITS / 64] = {[8] = 1}, too_far[2 * BITS / 64] = {[20] = 1};

static int set(int mode, const word *nodes, word bits)
{
    return syscall(SYS_set_mempolicy, mode, nodes, bits) == 0 ? 0 : errno;
}

static int get(int *mode, word *nodes, word bits, const void *address, word flags)
{
    return syscall(SYS_get_mempolicy, mode, nodes, bits, address, flags) == 0 ? 0 : errno;
}

static int bind_range(void *start, word size, int mode, const word *nodes, word flags)
{
    return syscall(SYS_mbind, start, size, mode, nodes, BITS, flags) == 0 ? 0 : errno;
}

static int mode_of(const void *address)
{
    int mode = -1;

    CHECK(get(&mode, NULL, 0, address, address != NULL ? OF_ADDRESS : 0) == 0);
    return mode;
}

static void check_refusals(void)
{
    CHECK(set(99, one, BITS) == EINVAL);
    CHECK(set(DEFAULT, one, BITS) == EINVAL);
    CHECK(set(BIND, none, BITS) == EINVAL && set(BIND, NULL, 0) == EINVAL && set(INTERLEAVE, none, BITS) == EINVAL);
    CHECK(set(BIND, far, BITS) == EINVAL);
    CHECK(set(BIND, too_far, 2 * BITS) == EINVAL);
    CHECK(set(BIND, one, PAGE * 8UL + 2) == EINVAL);
    CHECK(set(BIND | STATIC_NODES | RELATIVE_NODES, one, BITS) == EINVAL);
    CHECK(set(PREFERRED | STATIC_NODES, none, BITS) == EINVAL);
    CHECK(set(LOCAL, one, BITS) == EINVAL);
    CHECK(set(BIND, (word *)8, BITS) == EFAULT);
    CHECK(set(BIND, one, 1) == EINVAL); // one bit less than the number counts
    CHECK(get(NULL, NULL, 0, &one, 0) == EINVAL);
    CHECK(get(NULL, NULL, 0, NULL, 8) == EINVAL);
    CHECK(get(NULL, NULL, 0, NULL, ALLOWED | OF_NODE) == EINVAL);
    CHECK(get(NULL, none, 0, NULL, 0) == EINVAL);
    CHECK(get(NULL, NULL, 0, (void *)PAGE, OF_ADDRESS) == EFAULT);
}

static void check_thread(void)
{
    word nodes[BITS / 64];
    int mode;

    CHECK(set(BIND, one, BITS) == 0 && get(&mode, nodes, BITS, NULL, 0) == 0);
    CHECK(mode == BIND && nodes[0] == 1 && memcmp(nodes + 1, none, sizeof none - sizeof *none) == 0);
    CHECK(get(&mode, NULL, 0, NULL, OF_NODE) == EINVAL);
    CHECK(set(INTERLEAVE, one, BITS) == 0 && get(&mode, NULL, 0, NULL, OF_NODE) == 0 && mode == 0);
    CHECK(set(PREFERRED, none, BITS) == 0 && get(&mode, nodes, BITS, NULL, 0) == 0 && mode == LOCAL && nodes[0] == 0);
    far[0] = 1;
    CHECK(set(BIND, far, BITS) == 0 && get(&mode, nodes, BITS, NULL, 0) == 0 && nodes[0] == 1);
    CHECK(set(BIND | STATIC_NODES, one, BITS) == 0 && mode_of(NULL) == (BIND | STATIC_NODES));
    far[0] = 0;
}

/* Linux 5.17 and later. */
static void check_home_node(char *bound, char *spread)
{
    CHECK(syscall(SYS_HOME_NODE, bound, PAGE, 0, 0) == 0 || errno == ENOSYS);
    if (errno == ENOSYS)
        return;
    CHECK_ERRNO(syscall(SYS_HOME_NODE, spread, PAGE, 0, 0), EOPNOTSUPP);
    CHECK_ERRNO(syscall(SYS_HOME_NODE, bound, PAGE, 500, 0), EINVAL);
    CHECK_ERRNO(syscall(SYS_HOME_NODE, bound + PAGE, PAGE, 0, 0), ENOENT);
}

static void check_mapping(void)
{
    char *pages = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *list[2] = {pages, pages + 3 * PAGE};
    int status[2], first_node[2] = {0, 0}, no_node[2] = {500, 500}, mode;

    CHECK(pages != MAP_FAILED);
    pages[0] = 1;
    CHECK(mode_of(pages) == DEFAULT); // that of the thread is not told
    CHECK(bind_range(pages + PAGE, 2 * PAGE, INTERLEAVE, one, 0) == 0);
    CHECK(mode_of(pages) == DEFAULT && mode_of(pages + PAGE) == INTERLEAVE && mode_of(pages + 3 * PAGE) == DEFAULT);
    CHECK(bind_range(pages + 2 * PAGE, PAGE, BIND, one, MOVE) == 0);
    CHECK(mode_of(pages + PAGE) == INTERLEAVE && mode_of(pages + 2 * PAGE + 7) == BIND);
    errno = 0;
    check_home_node(pages + 2 * PAGE, pages + PAGE);
    CHECK(get(&mode, NULL, 0, pages, OF_ADDRESS | OF_NODE) == 0 && mode == 0);
    CHECK(bind_range(pages + 1, PAGE, BIND, one, 0) == EINVAL && bind_range(pages, PAGE, BIND, one, 64) == EINVAL);
    CHECK(bind_range(pages, 0, BIND, one, 0) == 0 && mode_of(pages) == DEFAULT);
    CHECK(syscall(SYS_move_pages, 0, 2, list, NULL, status, 0) == 0 && status[0] == 0 && status[1] == -ENOENT);
    CHECK(syscall(SYS_move_pages, 0, 2, list, first_node, status, MOVE) == 0 && status[0] == 0);
    CHECK(syscall(SYS_move_pages, 0, 2, list, no_node, status, MOVE) == -1 && errno == ENODEV);
    CHECK(syscall(SYS_move_pages, 0, 2, list, NULL, status, 64) == -1 && errno == EINVAL);
    CHECK(syscall(SYS_migrate_pages, 0, BITS, one, one) == 0);
    CHECK(syscall(SYS_migrate_pages, 0, BITS, one, none) == -1 && errno == EINVAL);
    CHECK(munmap(pages, 4 * PAGE) == 0 && bind_range(pages, PAGE, BIND, one, 0) == EFAULT);
    CHECK(mmap(pages, 4 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == pages);
    CHECK(mode_of(pages + PAGE) == DEFAULT);
}

int main(int argc, char **argv)
{
    pid_t child;

    if (argc > 1) {
        CHECK(mode_of(NULL) == (BIND | STATIC_NODES)); // through fork and exec
        return succeed();
    }
    if (get(NULL, NULL, 0, NULL, 0) != 0)
        return succeed(); // a kernel without NUMA, or a container that may not ask
    CHECK(mode_of(NULL) == DEFAULT);
    check_refusals();
    CHECK(mode_of(NULL) == DEFAULT);
    check_thread();
    check_mapping();
    child = fork();
    if (child == 0)
        execl("/proc/self/exe", argv[0], "again", NULL);
    CHECK_CHILD(child);
    CHECK(set(DEFAULT, NULL, 0) == 0 && mode_of(NULL) == DEFAULT);
    return succeed();
}
