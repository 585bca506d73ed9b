/* bpf(2), as far as it decides which processes may open which devices: programs of type BPF_PROG_TYPE_CGROUP_DEVICE,
 * which the server runs.
 *
 * The descriptor of a program is an anonymous file whose name contains the server's number of the program, so that the
 * program is recognised after dup, fork, exec and passing of the descriptor. All other commands of bpf(2) would act on
 * the computer on which the emulation runs. */
#include <linux/bpf.h>

#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/device/device.h"

#define CAP_BPF 39
#define PART_BYTES 3072
#define INSTRUCTIONS_MAX 1000000
#define NAME "simunix:device-program:"
#define NAME_ROOM 96

static int64_t ask_program(struct thread *thread, struct reply *reply, const int64_t values[5], const char *bytes, size_t size)
{
    struct msgpack_writer writer;

    request_start(thread, &writer, OP_DEVICE_PROGRAM);
    for (int i = 0; i < 5; i++)
        msgpack_put_int(&writer, values[i]);
    msgpack_put_bytes(&writer, bytes, size);
    return request_call(thread, &writer, reply);
}

#define ASK_PROGRAM(thread, reply, ...) ask_program(thread, reply, (const int64_t[5]){__VA_ARGS__}, NULL, 0)

static long descriptor_of(int64_t number)
{
    char name[NAME_ROOM];

    text_append_number(text_append(name, name + sizeof name, NAME), name + sizeof name, number);
    return NATIVE(memfd_create, name, 1); /* close-on-exec, as bpf(2) sets it */
}

/* Return the server's number of an open program; -EBADF if the descriptor is not open, -EINVAL if it is of another kind. */
static int64_t number_of(long fd)
{
    static const char prefix[] = "/memfd:" NAME;
    char name[NAME_ROOM];
    int64_t number = 0;

    if (NATIVE(fcntl, fd, F_GETFD, 0) < 0)
        return -EBADF;
    if (!proc_name_of(fd, name, sizeof name) || !text_starts(name, prefix))
        return -EINVAL;
    for (const char *at = name + sizeof prefix - 1; *at >= '0' && *at <= '9'; at++)
        number = 10 * number + *at - '0';
    return number;
}

/* Return the inode of a cgroup's folder, or -EBADF. */
static int64_t group_of(const struct thread *thread, long fd)
{
    struct stat status;

    if (NATIVE(fstat, fd, &status) != 0 || !is_in_cgroups(thread, &status) || (status.st_mode & S_IFMT) != S_IFDIR)
        return -EBADF;
    return (int64_t)status.st_ino;
}

static long load(struct thread *thread, const union bpf_attr *given)
{
    const char *bytes = (const char *)given->insns;
    size_t size = (size_t)given->insn_cnt * sizeof(struct bpf_insn);
    struct reply reply;

    if (given->insn_cnt == 0 || given->insn_cnt > INSTRUCTIONS_MAX)
        return -E2BIG;
    if (is_bad_pointer(bytes) || is_bad_pointer((const void *)given->license))
        return -EFAULT;
    for (size_t at = 0; at < size; at += PART_BYTES) {
        size_t part = size - at < PART_BYTES ? size - at : PART_BYTES;
        const int64_t values[5] = {PROGRAM_LOAD, (int64_t)at, (int64_t)size, 0, 0};
        int64_t result = ask_program(thread, &reply, values, bytes + at, part);

        if (result != 0)
            return result;
    }
    return descriptor_of(reply_number(&reply, 1));
}

static long attach(struct thread *thread, const union bpf_attr *given)
{
    int64_t number = number_of(given->attach_bpf_fd);
    int64_t replaced = (given->attach_flags & BPF_F_REPLACE) != 0 ? number_of(given->replace_bpf_fd) : 0;
    int64_t group = group_of(thread, given->target_fd);
    struct reply reply;

    if (given->attach_type != BPF_CGROUP_DEVICE ||
        (given->attach_flags & ~(unsigned)(BPF_F_ALLOW_OVERRIDE | BPF_F_ALLOW_MULTI | BPF_F_REPLACE)) != 0)
        return -EINVAL;
    if (group < 0 || number < 0 || replaced < 0)
        return group < 0 ? group : number < 0 ? number : replaced;
    return ASK_PROGRAM(thread, &reply, PROGRAM_ATTACH, group, number, given->attach_flags, replaced);
}

static long detach(struct thread *thread, const union bpf_attr *given)
{
    int64_t group = group_of(thread, given->target_fd);
    struct reply reply;

    if (given->attach_type != BPF_CGROUP_DEVICE)
        return -EINVAL;
    return group < 0 ? group : ASK_PROGRAM(thread, &reply, PROGRAM_DETACH, group, number_of(given->attach_bpf_fd));
}

static long query(struct thread *thread, union bpf_attr *given)
{
    int64_t group = group_of(thread, given->query.target_fd);
    uint32_t room = given->query.prog_cnt;
    struct reply reply;
    int64_t result;
    size_t size;

    if (given->query.attach_type != BPF_CGROUP_DEVICE || (given->query.query_flags & ~(unsigned)BPF_F_QUERY_EFFECTIVE) != 0)
        return -EINVAL;
    if (group < 0)
        return group;
    result = ASK_PROGRAM(thread, &reply, PROGRAM_QUERY, group, given->query.query_flags);
    if (result != 0)
        return result;
    given->query.attach_flags = (uint32_t)reply_number(&reply, 1);
    size = reply.values.length[2];
    given->query.prog_cnt = (uint32_t)(size / sizeof room);
    if (room == 0 || given->query.prog_ids == 0)
        return 0;
    reply_bytes(&reply, 2, (void *)given->query.prog_ids, room * sizeof room);
    return size > room * sizeof room ? -ENOSPC : 0;
}

static long open_by_number(struct thread *thread, const union bpf_attr *given)
{
    struct reply reply;
    int64_t result = ASK_PROGRAM(thread, &reply, PROGRAM_FIND, given->prog_id);

    return result == 0 ? descriptor_of(given->prog_id) : result;
}

static long refuse(struct thread *thread)
{
    warn_once(thread, WARN_REFUSED,
              "bpf: but for programs of cgroups' devices, it would reach the computer that the emulation runs on", NULL);
    return -EPERM;
}

/* The caller says how long the attributes are; attributes beyond this length are 0. */
long sys_bpf(struct call *call)
{
    union bpf_attr given = {0};
    size_t size = (size_t)(unsigned)call->a[2];
    long result;

    if (is_bad_pointer((void *)call->a[1]))
        return -EFAULT;
    memcpy(&given, (void *)call->a[1], size < sizeof given ? size : sizeof given);
    if (call->a[0] == BPF_PROG_LOAD ? given.prog_type != BPF_PROG_TYPE_CGROUP_DEVICE
                                    : call->a[0] != BPF_PROG_ATTACH && call->a[0] != BPF_PROG_DETACH &&
                                          call->a[0] != BPF_PROG_QUERY && call->a[0] != BPF_PROG_GET_FD_BY_ID)
        return refuse(call->thread);
    if (!has_host_capability(CAP_BPF, CAP_SYS_ADMIN))
        return -EPERM;
    switch (call->a[0]) {
    case BPF_PROG_LOAD:
        return load(call->thread, &given);
    case BPF_PROG_ATTACH:
        return attach(call->thread, &given);
    case BPF_PROG_DETACH:
        return detach(call->thread, &given);
    case BPF_PROG_GET_FD_BY_ID:
        return open_by_number(call->thread, &given);
    default:
        result = query(call->thread, &given);
        memcpy((void *)call->a[1], &given, size < sizeof given ? size : sizeof given);
        return result;
    }
}
