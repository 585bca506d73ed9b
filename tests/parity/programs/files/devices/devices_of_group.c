// A program on a cgroup says which devices its processes may open and make, see bpf(2), BPF_PROG_TYPE_CGROUP_DEVICE.
#include "check.h"

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define ACCESS_READ 2
#define INSTRUCTION(code_, to, from, offset, number) \
    (struct bpf_insn) { .code = (code_), .dst_reg = (to), .src_reg = (from), .off = (offset), .imm = (number) }
#define LOAD(to, offset) INSTRUCTION(BPF_LDX | BPF_W | BPF_MEM, to, BPF_REG_1, offset, 0)
#define UNLESS(register_, number, offset) INSTRUCTION(BPF_JMP | BPF_JNE | BPF_K, register_, 0, offset, number)
#define ANSWER(number) INSTRUCTION(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, number), INSTRUCTION(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static const char *const places[] = {"/sys/fs/cgroup/unified", "/sys/fs/cgroup"};
static char group[64], below[80];

static int bpf(int command, union bpf_attr *given)
{
    return (int)syscall(SYS_bpf, command, given, sizeof *given);
}

/* Forbids /dev/zero and its like. */
static int load(int answer)
{
    struct bpf_insn program[] = {
        LOAD(BPF_REG_4, 4), LOAD(BPF_REG_5, 8), UNLESS(BPF_REG_4, 1, 3), UNLESS(BPF_REG_5, 5, 2), ANSWER(answer), ANSWER(1),
    };
    union bpf_attr given = {.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE, .insn_cnt = sizeof program / sizeof *program};

    given.insns = (uintptr_t)program;
    given.license = (uintptr_t)"GPL";
    return bpf(BPF_PROG_LOAD, &given);
}

static int attach(int command, const char *folder, int program, unsigned flags)
{
    union bpf_attr given = {.attach_type = BPF_CGROUP_DEVICE, .attach_flags = flags};
    int result;

    given.target_fd = (unsigned)open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    given.attach_bpf_fd = (unsigned)program;
    result = bpf(command, &given);
    close((int)given.target_fd);
    return result;
}

static unsigned count(const char *folder, unsigned flags)
{
    unsigned numbers[8];
    union bpf_attr given = {.query = {.attach_type = BPF_CGROUP_DEVICE, .query_flags = flags, .prog_cnt = 8}};

    given.query.prog_ids = (uintptr_t)numbers;
    given.query.target_fd = (unsigned)open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK(bpf(BPF_PROG_QUERY, &given) == 0);
    close((int)given.query.target_fd);
    return given.query.prog_cnt;
}

static void enter(const char *folder)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "0", 1) == 1 && close(fd) == 0);
}

static void opens(const char *path)
{
    int fd = open(path, O_RDONLY);

    CHECK(fd >= 0 && close(fd) == 0);
}

static void inside(const char *folder)
{
    pid_t child = fork();

    CHECK(child >= 0);
    if (child == 0) {
        enter(folder);
        opens("/dev/null");
        opens("/dev/urandom");
        CHECK_ERRNO(open("/dev/zero", O_RDONLY), EPERM);
        CHECK_ERRNO(open("zero", O_RDWR), EPERM);
        CHECK_ERRNO(mknod("zero2", S_IFCHR | 0600, makedev(1, 5)), EPERM);
        CHECK(access("zero2", F_OK) != 0 && mknod("null", S_IFCHR | 0600, makedev(1, 3)) == 0);
        opens("null");
        CHECK(unlink("null") == 0);
        _exit(0);
    }
    CHECK_CHILD(child);
}

static void as_root(void)
{
    int allows, forbids;

    CHECK(mkdir(group, 0755) == 0 && mkdir(below, 0755) == 0);
    CHECK(mknod("zero", S_IFCHR | 0600, makedev(1, 5)) == 0);
    CHECK((forbids = load(0)) >= 0 && (allows = load(1)) >= 0 && (fcntl(forbids, F_GETFD) & FD_CLOEXEC) != 0);
    CHECK_ERRNO(load(2), EINVAL);
    CHECK_ERRNO(attach(BPF_PROG_ATTACH, ".", forbids, 0), EBADF);
    CHECK_ERRNO(attach(BPF_PROG_ATTACH, group, 0, 0), EINVAL); /* standard input is no program */
    CHECK(count(group, 0) == 0 && attach(BPF_PROG_ATTACH, group, forbids, BPF_F_ALLOW_OVERRIDE) == 0);
    CHECK(count(group, 0) == 1 && count(below, 0) == 0 && count(below, BPF_F_QUERY_EFFECTIVE) == 1);
    inside(group);
    inside(below);
    opens("/dev/zero");
    opens("zero");
    CHECK(attach(BPF_PROG_ATTACH, below, allows, 0) == 0);
    CHECK_ERRNO(attach(BPF_PROG_ATTACH, below, forbids, BPF_F_ALLOW_MULTI), EPERM);
    CHECK(attach(BPF_PROG_ATTACH, below, forbids, 0) == 0);
    inside(below);
    CHECK(attach(BPF_PROG_DETACH, below, forbids, 0) == 0 && attach(BPF_PROG_DETACH, group, forbids, 0) == 0);
    CHECK_ERRNO(attach(BPF_PROG_DETACH, group, forbids, 0), ENOENT);
    CHECK(close(forbids) == 0 && close(allows) == 0 && rmdir(below) == 0 && rmdir(group) == 0);
}

int main(void)
{
    struct stat status;
    size_t place = stat(places[0], &status) == 0 ? 0 : 1;

    snprintf(group, sizeof group, "%s/devices-%d", places[place], (int)getpid());
    snprintf(below, sizeof below, "%s/below", group);
    if (getuid() == 0 && access(places[place], W_OK) == 0)
        as_root();
    else
        CHECK_ERRNO(load(0), EPERM);
    return succeed();
}
