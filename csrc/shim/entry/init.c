/* The beginning of a program under the shim: it connects to the server and registers, overwrites the vDSO and switches
 * traps on, all before the program's own constructors run. The loader calls the constructor in this file; if the shim
 * was loaded without the loader, injected.c runs instead. */
#include "shim/core/channel.h"
#include "shim/core/memory.h"
#include "shim/turn/tracee.h"
#include "shim/entry/entry.h"
#include "shim/pids/pids.h"
#include "shim/strace/tracing.h"
#include "shim/sys/process/process.h"
#include "shim/sys/process/seccomp.h"
#include "shim/sys/cgroup/cgroup.h"
#include "shim/sys/io/mapped.h"
#include "shim/sys/procfs/procfs.h"
#include "shim/sys/signal/signal.h"
#include "shim/sys/time/time.h"
#include "shim/turn/turn.h"

#include <linux/auxvec.h>

static struct process main_process;
static struct thread main_thread;
static uint8_t main_stack[OWN_STACK_BYTES] __attribute__((aligned(64)));

static const char channel_variable[] = "SIMUNIX_CHANNEL=";
static const char preload_variable[] = "LD_PRELOAD=";

static char *find_variable(char **environment, const char *prefix)
{
    for (; *environment != NULL; environment++)
        if (text_starts(*environment, prefix))
            return *environment + text_length(prefix);
    return NULL;
}

/* Remove a variable from the list of the environment, and overwrite it for readers of /proc/self/environ. */
static void remove_variable(char **environment, const char *prefix)
{
    char **to = environment;

    for (; *environment != NULL; environment++)
        if (text_starts(*environment, prefix))
            memset(*environment, 0, text_length(*environment));
        else
            *to++ = *environment;
    *to = NULL;
}

static int parse_number(const char *text)
{
    int number = 0;

    while (*text >= '0' && *text <= '9')
        number = 10 * number + *text++ - '0';
    return number;
}

/* Let the program see only its own LD_PRELOAD: the part before the last separator; the path of the shim follows this
 * separator. */
static void take_environment(char **environment)
{
    char *preload = find_variable(environment, preload_variable);
    char *path = preload;
    char *to = main_process.shim_path;
    char *end = to + sizeof main_process.shim_path - 1;

    for (char *at = preload; at != NULL && *at != '\0'; at++)
        if (*at == ':')
            path = at + 1;
    for (char *from = path; from != NULL && *from != '\0' && to < end; from++)
        *to++ = *from;
    *to = '\0';
    if (path != preload)
        memset(path - 1, 0, text_length(path - 1));
    else
        remove_variable(environment, preload_variable);
    remove_variable(environment, channel_variable);
}

static uint64_t find_auxiliary(char **environment, uint64_t type)
{
    const uint64_t *entry;

    while (*environment != NULL)
        environment++;
    for (entry = (const uint64_t *)(environment + 1); entry[0] != AT_NULL; entry += 2)
        if (entry[0] == type)
            return entry[1];
    return 0;
}

/* Copy a text of the reply into a buffer, cut at the buffer's end. */
static void copy_text(const struct reply *reply, int at, char *to, size_t size)
{
    to[reply_bytes(reply, at, to, size - 1)] = '\0';
}

static void map_page(int fd)
{
    long page = fd < 0 ? fd : NATIVE(mmap, NULL, SIMUNIX_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (page < 0)
        fatal("the clock page cannot be mapped", NULL, page);
    main_process.page = (struct simunix_clock_page *)page;
    if (main_process.page->version != SIMUNIX_PROTOCOL_VERSION)
        fatal("this shim and the server are of different versions", NULL, main_process.page->version);
}

/* Turn descriptor numbers into places, now that the server has told the floor from which places are counted. */
static void take_places(int floor)
{
    int moved = main_process.descriptors.floor - floor;

    main_thread.link.channel += moved;
    main_process.descriptors.page_file += moved;
    main_process.descriptors.floor = floor;
}

/* Map the shared memory. The first program of a process that another program has started gets its file from the server;
 * later ones inherit it. */
static void take_page(int fd)
{
    map_page(fd);
    descriptors_raise();
    main_process.descriptors.page_file = descriptor_hide(&main_process, fd);
    descriptors_limit(&main_process);
}

/* Store the facts about cgroups in HELLO's reply. */
__attribute__((cold)) static void take_cgroups(uint64_t told)
{
    main_process.cgroups.device = told >> SIMUNIX_CGROUP_DEVICE_SHIFT;
    main_process.cgroups.are_used = (told & CGROUPS_USED) != 0;
    if ((told & CGROUPS_COUNT_MEMORY) != 0)
        cgroup_memory_begins(&main_process);
}

/* Register the process by HELLO. Returns how the process is traced. */
static int64_t register_process(const char *program)
{
    struct reply reply;

    if (say_hello(&main_thread, HELLO_NEW_IMAGE, program, &reply) != 0)
        fatal("the server refused this process", program, reply.status);
    main_process.random_state = (uint64_t)reply_number(&reply, 1);
    main_process.descriptors.soft = (uint64_t)reply_number(&reply, 2);
    main_process.descriptors.hard = (uint64_t)reply_number(&reply, 9);
    take_places((int)reply_number(&reply, 10));
    descriptors_limit(&main_process); /* another process may have set the limit (prlimit(2)) */
    main_process.host.cpus = (int)reply_number(&reply, 3);
    main_process.host.memory_bytes = (uint64_t)reply_number(&reply, 4);
    main_process.flags = (uint32_t)reply_number(&reply, 5);
    main_thread.cpu = (unsigned)reply_number(&reply, 11);
    take_cgroups((uint64_t)reply_number(&reply, 12));
    main_thread.link.slot = (uint32_t)reply_number(&reply, 8);
    copy_text(&reply, 6, main_process.host.name, sizeof main_process.host.name);
    copy_text(&reply, 7, main_process.host.files, sizeof main_process.host.files);
    if (main_process.page == NULL)
        take_page(reply.fd);
    if ((main_process.flags & HELLO_FLAG_COUNT_TRAPS) != 0)
        trap_places_map(&main_process);
    if ((main_process.flags & HELLO_FLAG_STORAGES) != 0) {
        stored_mounts_read(&main_process);
        mapped_adopt(&main_process);
    }
    if ((main_process.flags & (HELLO_FLAG_CHARGED | HELLO_FLAG_MODELLED)) != 0) {
        costs_map(&main_process, (reply_number(&reply, 5) >> HELLO_COST_ROW_SHIFT) - 1);
        charge_image(&main_thread, &reply);
    }
    return reply_number(&reply, 13);
}

/* Overwrite the 16 random bytes that the kernel gives a program. The loader has used them already; programs that read
 * them find seeded ones. */
static void seed_random_bytes(uint64_t *bytes)
{
    if (bytes == NULL)
        return;
    bytes[0] = random_next(&main_process);
    bytes[1] = random_next(&main_process);
}

static const char *behind_number(const char *text)
{
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}

/* The channel's number; behind a comma that of the shared page's file, if an image before this one had it, and behind a
 * semicolon that of its filters of system calls; behind an @ that of the host's /proc, twice if the process is in a PID
 * namespace within its host's; behind a colon that of the shim's file, which was opened for the case that the loader would not
 * bring the shim in. A program with the page speaks in its turn, and rings the doorbell, from its first message on. */
static bool take_descriptors(const char *text)
{
    bool is_nested = false;
    int channel = parse_number(text);

    main_process.descriptors.floor = channel; /* until the server has told the floor, the place of the channel is 0 */
    NATIVE(fcntl, channel, F_SETFD, FD_CLOEXEC);
    descriptor_note(channel);
    text = behind_number(text);
    if (*text == ',') {
        int page = parse_number(text + 1);

        map_page(page);
        descriptor_note(page);
        main_process.descriptors.page_file = page - channel;
        main_thread.link.has_turn = true;
        text = behind_number(text + 1);
    }
    if (*text == ';') {
        seccomp_adopt(&main_thread, parse_number(text + 1));
        text = behind_number(text + 1);
    }
    if (*text == '@') {
        is_nested = text[1] == '@';
        text += is_nested ? 2 : 1;
        main_process.ids.proc = parse_number(text);
        NATIVE(fcntl, main_process.ids.proc, F_SETFD, FD_CLOEXEC);
        descriptor_note(main_process.ids.proc);
        text = behind_number(text);
    }
    if (*text == ':')
        NATIVE(close, parse_number(text + 1));
    return is_nested;
}

/* Start the shim in this program. Returns false if this process is not emulated. */
bool shim_begin(char **argv, char **environment)
{
    char *channel = find_variable(environment, channel_variable);
    uint64_t all = SIGNALS_IN_SHIM;
    uint64_t before;

    if (channel == NULL)
        return false;
    NATIVE(rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    main_thread = (struct thread){.self = &main_thread,
                                  .process = &main_process,
                                  .link = {.epoll = -1},
                                  .strace = {.file = -1},
                                  .is_main = true,
                                  .own_stack = main_stack};
    main_process.main = &main_thread;
    set_thread_pointer(&main_thread);
    pids_of_process(&main_thread, take_descriptors(channel));
    /* The auxiliary vector is found behind the environment, so it must be read before the environment becomes shorter. */
    const char *program = (const char *)find_auxiliary(environment, AT_EXECFN);
    uint64_t vdso = find_auxiliary(environment, AT_SYSINFO_EHDR);
    uint64_t *random_bytes = (uint64_t *)find_auxiliary(environment, AT_RANDOM);
    take_environment(environment);
    int64_t traced = register_process(program != NULL ? program : "?");
    strace_open(&main_thread);
    strace_began(&main_thread, program, argv, environment);
    seed_random_bytes(random_bytes);
    rseq_forget();
    thread_use_own_stack(&main_thread);
    actions_start(&main_process);
    main_process.traps.take = sites_take_traps;
    if (traced != 0)
        tracee_begin(&main_thread);
    main_thread.tracee.stops_at_calls = (traced & RESUME_SYSCALL) != 0;
    trap_install();
    tsc_trap(&main_process);
    vdso_patch(vdso);
    trap_arm();
    preload_start();
    main_thread.signals.hidden_mask = before & ~signals_strip(before);
    before = signals_strip(before);
    signals_stop_if_due(&main_thread, before);
    NATIVE(rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
    if ((main_process.flags & HELLO_FLAG_CALIBRATES) != 0)
        calibrate(&main_thread);
    if (main_thread.policy.is_charged)
        charge_begin(&main_thread);
    if (traced != 0)
        tracee_exec(&main_thread);
    return true;
}

/* Outside of an emulation, the preloaded shim does nothing. */
__attribute__((constructor)) static void initialise(int argc, char **argv, char **environment)
{
    (void)argc;
    if (!shim_begin(argv, environment))
        return;
    /* The second test is true only if a seccomp filter forbids to ask for fixed addresses; then no program of this
     * computer has fixed addresses. */
    if (addresses_have_chance() && !addresses_have_chance())
        warn_once(current_thread(), WARN_REAL, "has addresses by chance, since it is setuid, and may not be traced here", NULL);
}
