/* execve: the new image must be one that the shim can enter, and gets the shim's two variables whatever environment it is
 * given. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/strace/tracing.h"
#include "shim/sys/time/time.h"

#include <linux/elf.h>

#define INTERPRETERS_MAX 5

struct program_head {
    long size;
    char bytes[512];
};

/* Would the kernel call the new image's start secure, so that the loader drops LD_PRELOAD? See cap_bprm_creds_from_file. */
static const char *starts_secure(long file, const struct stat *status)
{
    bool heeds_bits = NATIVE(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
    bool is_setuid = heeds_bits && (status->st_mode & S_ISUID) != 0;
    bool is_setgid = heeds_bits && (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    long user = NATIVE(getuid);

    if ((is_setuid && status->st_uid != (uint32_t)user) || (is_setgid && status->st_gid != (uint32_t)NATIVE(getgid)))
        return "setuid or setgid: the loader would drop the shim";
    if (heeds_bits && user != 0 && NATIVE(fgetxattr, file, "security.capability", NULL, 0) > 0)
        return "has file capabilities: the loader would drop the shim";
    if ((!is_setuid && NATIVE(geteuid) != user) || (!is_setgid && NATIVE(getegid) != NATIVE(getgid)))
        return "effective and real user or group differ: the loader would drop the shim";
    return NULL;
}

/* A program that cannot be intercepted is refused here: once running, it would hold the turn for ever. */
static const char *unfit_elf(long file, const struct program_head *head)
{
    const Elf64_Ehdr *header = (const void *)head->bytes;
    const char *reason = NULL;
    struct stat status;

    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 62) /* EM_X86_64 */
        return "not an x86-64 program";
    if (NATIVE(fstat, file, &status) == 0)
        reason = starts_secure(file, &status);
    for (int i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        if (NATIVE(pread64, file, &segment, sizeof segment, header->e_phoff + (uint64_t)i * sizeof segment) != sizeof segment)
            break;
        if (segment.p_type == PT_INTERP)
            return reason;
    }
    return "statically linked: no loader to bring the shim in";
}

/* The interpreter of a script's first line into `path`; false if the line names none. */
static bool script_interpreter(const struct program_head *head, char *path, size_t room)
{
    const char *at = head->bytes + 2;
    const char *end = head->bytes + head->size;
    size_t length = 0;

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    while (at < end && *at != ' ' && *at != '\t' && *at != '\n' && length + 1 < room)
        path[length++] = *at++;
    path[length] = '\0';
    return length > 0;
}

/* NULL if the image may run, or the kernel will say what is wrong with it. */
static const char *unfit_program(int directory, const char *path, int flags)
{
    struct program_head head;
    char interpreter[256];

    for (int depth = 0; depth < INTERPRETERS_MAX; depth++) {
        const char *reason = NULL;
        long file = NATIVE(openat, directory, path, O_RDONLY | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0);

        if (file < 0)
            return NULL;
        head.size = NATIVE(pread64, file, head.bytes, sizeof head.bytes, 0);
        if (head.size >= (long)sizeof(Elf64_Ehdr) && memcmp(head.bytes, ELFMAG, SELFMAG) == 0)
            reason = unfit_elf(file, &head);
        NATIVE(close, file);
        if (head.size < 2 || head.bytes[0] != '#' || head.bytes[1] != '!')
            return reason;
        if (!script_interpreter(&head, interpreter, sizeof interpreter))
            return NULL;
        path = interpreter;
        directory = AT_FDCWD;
    }
    return NULL;
}

struct image_environment {
    char **pointers;
    size_t size; /* of the mapping */
};

static size_t count_pointers(char **list)
{
    size_t count = 0;

    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

/* A copy of the environment with LD_PRELOAD led by the shim and the channel's number added. */
static bool build_environment(struct call *call, char **given, struct image_environment *result)
{
    const char *path = call->thread->process->shim_path;
    size_t count = count_pointers(given);
    const char *preload = NULL;
    char *text;
    char *end;
    char **to;
    long memory;

    for (size_t i = 0; i < count; i++)
        if (text_starts(given[i], "LD_PRELOAD="))
            preload = given[i] + 11;
    result->size = ((count + 3) * sizeof(char *) + 512 + (preload != NULL ? text_length(preload) : 0) + 4095) & ~4095UL;
    memory = NATIVE(mmap, NULL, result->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0)
        return false;
    result->pointers = to = (char **)memory;
    text = (char *)memory + (count + 3) * sizeof(char *);
    end = (char *)memory + result->size;
    for (size_t i = 0; i < count; i++)
        if (!text_starts(given[i], "LD_PRELOAD=") && !text_starts(given[i], "SIMUNIX_CHANNEL="))
            *to++ = given[i];
    *to++ = text;
    text = text_append(text_append(text, end, "LD_PRELOAD="), end, path);
    if (preload != NULL)
        text = text_append(text_append(text, end, ":"), end, preload);
    *to++ = ++text;
    text_append_number(text_append(text, end, "SIMUNIX_CHANNEL="), end,
                       descriptor_number(call->thread->process, call->thread->channel));
    *to = NULL;
    return true;
}

static long refuse(struct call *call, const char *path, const char *reason)
{
    char text[300];
    char *end = text + sizeof text;

    text_append(text_append(text_append(text, end, path), end, ": "), end, reason);
    warn_once(call->thread, WARN_ESCAPE, text, NULL);
    return -EACCES; /* at ENOEXEC execvp(3) would have the shell read it */
}

static void tell_exec(struct call *call, int op, const char *path, int64_t error)
{
    struct msgpack_writer writer;
    struct reply reply;
    size_t length = path == NULL ? 0 : text_length(path);

    request_start(call->thread, &writer, op, 1);
    if (path != NULL)
        msgpack_put_text(&writer, path, length < 1024 ? length : 1024);
    else
        msgpack_put_int(&writer, error);
    request_call(call->thread, &writer, &reply);
}

static long execute(struct call *call, int directory, const char *path, char **argv, char **environment, int flags)
{
    uint64_t all = SIGNALS_ALL;
    struct image_environment image;
    char by_descriptor[40];
    char *end = by_descriptor + sizeof by_descriptor;
    const char *reason;
    long result;

    if (is_bad_pointer(path))
        return -EFAULT;
    if ((flags & AT_EMPTY_PATH) && *path == '\0') {
        text_append_number(text_append(by_descriptor, end, "/proc/self/fd/"), end, directory);
        reason = unfit_program(AT_FDCWD, by_descriptor, 0);
    } else {
        reason = unfit_program(directory, path, flags);
    }
    if (reason != NULL)
        return refuse(call, *path != '\0' ? path : by_descriptor, reason);
    if (!build_environment(call, environment, &image))
        return -ENOMEM;
    if (call->trace != NULL)
        strace_replacing(call, directory, path);
    signals_stop_if_due(call->thread, call->mask);
    tell_exec(call, OP_EXEC, path, 0);
    NATIVE(fcntl, descriptor_number(call->thread->process, call->thread->channel), F_SETFD, 0);
    tsc_release(call->thread->process);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &call->mask, NULL, 8); /* the new image inherits it */
    result = NATIVE(execveat, directory, path, argv, image.pointers, flags);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    tsc_trap(call->thread->process);
    NATIVE(fcntl, descriptor_number(call->thread->process, call->thread->channel), F_SETFD, FD_CLOEXEC);
    NATIVE(munmap, image.pointers, image.size);
    tell_exec(call, OP_EXEC_FAILED, NULL, -result);
    return result;
}

long sys_execve(struct call *call)
{
    return execute(call, AT_FDCWD, (const char *)call->a[0], (char **)call->a[1], (char **)call->a[2], 0);
}

long sys_execveat(struct call *call)
{
    return execute(call, (int)call->a[0], (const char *)call->a[1], (char **)call->a[2], (char **)call->a[3], (int)call->a[4]);
}
