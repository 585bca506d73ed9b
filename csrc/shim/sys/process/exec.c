/* execve(2): the shim must be able to get into the new program, which gets the shim's two variables whatever
 * environment it is given. The dynamic loader loads the shim (LD_PRELOAD). If there is no loader, or if it would ignore
 * the shim, the host's init loads it (csrc/hostinit/injection.c). */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/sys/process/seccomp.h"
#include "shim/sys/signal/signal.h"
#include "shim/sys/time/time.h"

#include <linux/elf.h>

#define INTERPRETERS_MAX 5

struct program_head {
    long size;
    char bytes[1024];
};

/* How the shim gets into a new program. */
struct way_in {
    const char *refused;  /* the reason why the shim cannot get into the program; NULL if it can */
    const char *injected; /* the reason why the host's init has to load the shim; NULL if the loader will load it */
    bool is_secure;       /* the program gains privileges */
    bool is_optional;     /* the exec may go on without tracing: the file is probably no program, or its loader will
                           * load the shim */
};

/* Return why the kernel would start the new program as secure, so that the loader would ignore LD_PRELOAD; NULL if it
 * would not. See cap_bprm_creds_from_file of Linux. */
static const char *starts_secure(long file, const struct stat *status)
{
    bool heeds_bits = NATIVE(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
    bool is_setuid = heeds_bits && (status->st_mode & S_ISUID) != 0;
    bool is_setgid = heeds_bits && (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    long user = NATIVE(getuid);

    if ((is_setuid && status->st_uid != (uint32_t)user) || (is_setgid && status->st_gid != (uint32_t)NATIVE(getgid)))
        return "setuid or setgid";
    if (heeds_bits && user != 0 && NATIVE(fgetxattr, file, "security.capability", NULL, 0) > 0)
        return "has file capabilities";
    if ((!is_setuid && NATIVE(geteuid) != user) || (!is_setgid && NATIVE(getegid) != NATIVE(getgid)))
        return "effective and real user or group differ";
    return NULL;
}

/* Return whether the kernel will give the program random addresses although it gains no privileges: a setuid program of
 * root's, such as su, that root execs. See bprm_fill_uid, which clears ADDR_NO_RANDOMIZE because of the bits alone. */
static bool starts_by_chance(const struct stat *status)
{
    bool has_bits = (status->st_mode & S_ISUID) != 0 || (status->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);

    return has_bits && NATIVE(prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0;
}

/* Read bytes of a program's file, which are nearly always in the part that was read already. */
static bool read_program(long file, const struct program_head *head, uint64_t at, void *to, uint64_t size)
{
    if (at + size > (uint64_t)head->size)
        return NATIVE(pread64, file, to, size, at) == (long)size;
    memcpy(to, head->bytes + at, size);
    return true;
}

/* Return whether a program asks for glibc's loader. Only this loader calls the shim's constructor as the shim expects it. */
static bool names_glibc(long file, const struct program_head *head, const Elf64_Phdr *segment)
{
    char path[64];
    uint64_t size = segment->p_filesz < sizeof path ? segment->p_filesz : sizeof path - 1;

    if (!read_program(file, head, segment->p_offset, path, size))
        return false;
    path[size] = '\0';
    for (const char *at = path; *at != '\0'; at++)
        if (text_starts(at, "/ld-linux"))
            return true;
    return false;
}

static void examine_elf(long file, const struct program_head *head, struct way_in *way)
{
    const Elf64_Ehdr *header = (const void *)head->bytes;
    struct stat status;
    const char *secure;

    way->injected = "statically linked";
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != 62) { /* EM_X86_64 */
        way->refused = "not an x86-64 program";
        return;
    }
    for (int i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;

        if (!read_program(file, head, header->e_phoff + (uint64_t)i * sizeof segment, &segment, sizeof segment))
            break;
        if (segment.p_type == PT_INTERP) {
            way->injected = names_glibc(file, head, &segment) ? NULL : "its loader is not glibc's";
            break;
        }
    }
    if (NATIVE(fstat, file, &status) != 0)
        return;
    secure = starts_secure(file, &status);
    way->is_secure = secure != NULL;
    if (way->injected == NULL && secure == NULL && starts_by_chance(&status)) {
        secure = "setuid or setgid";
        way->is_optional = true;
    }
    way->injected = way->injected == NULL ? secure : way->injected;
}

/* Copy the interpreter in a script's first line into `path`. Returns false if the line names none. */
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

/* Return whether a file begins as a program or a script. */
static bool is_known(const struct program_head *head)
{
    return (head->size >= SELFMAG && memcmp(head->bytes, ELFMAG, SELFMAG) == 0) ||
           (head->size >= 2 && head->bytes[0] == '#' && head->bytes[1] == '!');
}

/* Find out how the shim gets into a program. Both reasons are NULL if the loader will load the shim, or if the kernel
 * will report what is wrong with the program. */
static void examine_program(int directory, const char *path, int flags, struct way_in *way)
{
    struct program_head head;
    char interpreter[256];

    for (int depth = 0; depth < INTERPRETERS_MAX; depth++) {
        long file = NATIVE(openat, directory, path, O_RDONLY | O_CLOEXEC | (flags & AT_SYMLINK_NOFOLLOW ? O_NOFOLLOW : 0), 0);

        if (file == -EACCES || (file < 0 && flags & AT_EMPTY_PATH)) /* unreadable, or hidden in /proc: the exec may succeed */
            way->injected = "not readable";
        if (file < 0)
            return;
        head.size = NATIVE(pread64, file, head.bytes, sizeof head.bytes, 0);
        if (head.size >= (long)sizeof(Elf64_Ehdr) && memcmp(head.bytes, ELFMAG, SELFMAG) == 0)
            examine_elf(file, &head, way);
        NATIVE(close, file);
        if (head.size > 0 && way->injected == NULL && way->refused == NULL && !is_known(&head)) {
            way->injected = "what runs it, only the kernel knows (binfmt_misc)";
            way->is_optional = true;
        }
        if (head.size < 2 || head.bytes[0] != '#' || head.bytes[1] != '!')
            return;
        if (!script_interpreter(&head, interpreter, sizeof interpreter))
            return;
        path = interpreter;
        directory = AT_FDCWD;
    }
}

/* Return whether the environment makes the loader not run the program, or run other code before the shim. */
static bool diverts_loader(char **environment)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (text_starts(*environment, "LD_TRACE_LOADED_OBJECTS=") || text_starts(*environment, "LD_AUDIT="))
            return true;
    return false;
}

static void examine(const struct call *call, int directory, const char *path, int flags, char **environment, struct way_in *way)
{
    examine_program(directory, path, flags, way);
    if (way->refused != NULL || way->injected != NULL)
        return;
    if (NATIVE(faccessat, AT_FDCWD, call->thread->process->shim_path, 4) != 0) /* R_OK */
        way->injected = "its loader would not find the shim: another root folder, mount or mode hides it";
    else if (diverts_loader(environment))
        way->injected = "its loader is told not to run it";
}

static size_t count_pointers(char **list)
{
    size_t count = 0;

    while (list != NULL && list[count] != NULL)
        count++;
    return count;
}

/* Return memory for a list of variables. The memory belongs to the thread's record: when a vfork's child execs, the
 * memory stays with the creator. */
static char **environment_room(struct thread *thread, size_t size)
{
    long memory;

    if (size <= thread->kept.environment_size)
        return thread->kept.environment;
    memory = NATIVE(mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory < 0)
        return NULL;
    if (thread->kept.environment != NULL)
        NATIVE(munmap, thread->kept.environment, thread->kept.environment_size);
    thread->kept.environment = (void *)memory;
    thread->kept.environment_size = size;
    return thread->kept.environment;
}

/* A copy of the environment in which LD_PRELOAD ends with the shim, and with the channel's number added; behind a comma that of
 * the shared page's file, behind a semicolon that of the filters' file, behind an @ that of the host's /proc, and behind a
 * colon that of the shim's, each unless -1. The program's own libraries stand first, so that what they replace of libc is
 * replaced. NULL if memory is out. */
static char **build_environment(struct call *call, char **given, int shim, int filters)
{
    const struct process *process = call->thread->process;
    const char *path = process->shim_path;
    size_t count = count_pointers(given);
    const char *preload = NULL;
    size_t size;
    char *text;
    char *end;
    char **room;
    char **to;

    for (size_t i = 0; i < count; i++)
        if (text_starts(given[i], "LD_PRELOAD="))
            preload = given[i] + 11;
    size = ((count + 3) * sizeof(char *) + 512 + (preload != NULL ? text_length(preload) : 0) + 4095) & ~4095UL;
    room = to = environment_room(call->thread, size);
    if (room == NULL)
        return NULL;
    text = (char *)room + (count + 3) * sizeof(char *);
    end = (char *)room + size;
    for (size_t i = 0; i < count; i++)
        if (!text_starts(given[i], "LD_PRELOAD=") && !text_starts(given[i], "SIMUNIX_CHANNEL="))
            *to++ = given[i];
    *to++ = text;
    text = text_append(text, end, "LD_PRELOAD=");
    if (preload != NULL)
        text = text_append(text_append(text, end, preload), end, ":");
    text = text_append(text, end, path);
    *to++ = ++text;
    text = text_append_number(text_append(text, end, "SIMUNIX_CHANNEL="), end,
                              descriptor_number(process, call->thread->link.channel));
    text = text_append_number(text_append(text, end, ","), end, descriptor_number(process, process->descriptors.page_file));
    if (filters >= 0)
        text = text_append_number(text_append(text, end, ";"), end, filters);
    if (process->ids.proc > 0)
        text = text_append_number(text_append(text, end, pids_are_nested(process) ? "@@" : "@"), end, process->ids.proc);
    if (shim >= 0)
        text_append_number(text_append(text, end, ":"), end, shim);
    *to = NULL;
    return room;
}

static long refuse(struct call *call, const char *path, const char *reason, const char *more)
{
    char text[300];
    char *end = text + sizeof text;

    text_append(text_append(text_append(text_append(text, end, path), end, ": "), end, reason), end, more);
    warn_once(call->thread, WARN_ESCAPE, text, NULL);
    return -EACCES; /* after ENOEXEC, execvp(3) would run the file by a shell */
}

/* Report to the server the hand-offs that it does not know yet, because the new program will not know them. */
static void tell_handoffs(struct thread *thread)
{
    struct reply reply;

    if (thread->process->handoffs.has_news || thread->process->page->running != 0)
        ask(thread, &reply, OP_EXEC, 0, NULL);
}

/* Have the host's init trace the next exec of this thread, for which the shim's file is opened. Returns its descriptor,
 * or -errno. */
static int injection_begin(struct call *call)
{
    struct thread *thread = call->thread;
    struct process *process = thread->process;
    struct reply reply = {.fd = -1};
    int shim;

    descriptors_raise();
    shim = (int)NATIVE(fcntl, descriptor_number(process, thread->link.channel), F_DUPFD, process->descriptors.floor);
    if (shim >= 0 && (ASK(thread, &reply, OP_INJECT, thread->ids.host_tid, shim) != 0 || reply.fd < 0)) {
        NATIVE(close, shim);
        shim = -EPERM;
    }
    if (shim >= 0) {
        NATIVE(dup3, reply.fd, shim, 0);
        NATIVE(close, reply.fd);
    }
    descriptors_limit(process);
    return shim;
}

static void injection_end(struct call *call, int shim)
{
    struct reply reply;

    ASK(call->thread, &reply, OP_INJECT, call->thread->ids.host_tid, -1);
    NATIVE(close, shim);
}

/* Make the exec itself; returns only if it fails. */
static long replace(struct call *call, int directory, const char *path, char **argv, char **environment, int flags)
{
    int channel = descriptor_number(call->thread->process, call->thread->link.channel);
    int page_file = descriptor_number(call->thread->process, call->thread->process->descriptors.page_file);
    int proc = call->thread->process->ids.proc;
    uint64_t mask = call->mask | call->thread->signals.hidden_mask;
    uint64_t all = SIGNALS_IN_SHIM;
    long result;

    NATIVE(fcntl, channel, F_SETFD, 0);
    NATIVE(fcntl, page_file, F_SETFD, 0);
    if (proc > 0)
        NATIVE(fcntl, proc, F_SETFD, 0);
    tsc_release();
    actions_release(call->thread->process);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8); /* the new program inherits this descriptor */
    result = NATIVE(execveat, directory, path, argv, environment, flags);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, NULL, 8);
    actions_take_back();
    tsc_trap(call->thread->process);
    NATIVE(fcntl, channel, F_SETFD, FD_CLOEXEC);
    if (proc > 0)
        NATIVE(fcntl, proc, F_SETFD, FD_CLOEXEC);
    return result;
}

static long execute(struct call *call, int directory, const char *path, char **argv, char **environment, int flags)
{
    struct way_in way = {0};
    char by_descriptor[40];
    char *end = by_descriptor + sizeof by_descriptor;
    char **variables;
    int shim = -1;
    int filters;
    long result = -ENOMEM;

    if (is_bad_pointer(path))
        return -EFAULT;
    if ((flags & AT_EMPTY_PATH) && *path == '\0') {
        int proc = call->thread->process->ids.proc;

        text_append_number(text_append(by_descriptor, end, proc > 0 ? "self/fd/" : "/proc/self/fd/"), end, directory);
        examine(call, proc > 0 ? proc : AT_FDCWD, by_descriptor, AT_EMPTY_PATH, environment, &way);
    } else {
        examine(call, directory, path, flags, environment, &way);
    }
    if (way.refused != NULL)
        return refuse(call, *path != '\0' ? path : by_descriptor, way.refused, "");
    if (way.is_secure && call->thread->tracee.is_traced)
        return refuse(call, *path != '\0' ? path : by_descriptor, way.injected,
                      ": an emulated process traces it, and Linux would give it no privileges; run it untraced");
    signals_stop_if_due(call->thread, call->mask);
    if (way.injected != NULL && (shim = injection_begin(call)) < 0 && !way.is_optional)
        return refuse(call, *path != '\0' ? path : by_descriptor, way.injected,
                      ": it would have to be traced, which is refused here");
    filters = seccomp_hand_on(call->thread);
    variables = build_environment(call, environment, shim, filters);
    if (variables != NULL) {
        if (call->trace != NULL)
            strace_replacing(call, directory, path);
        tell_handoffs(call->thread);
        result = replace(call, directory, path, argv, variables, flags);
    }
    if (filters >= 0)
        NATIVE(close, filters);
    if (shim >= 0)
        injection_end(call, shim);
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
