/* How many messages a second the core of the server takes (csrc/turn/), without processes: for benchmarks/core.py.
 *
 * core_replay ACTORS MESSAGES: lines of "KIND SHARE" on stdin say of which kinds the messages are. One thread is server and
 * processes: whoever has the turn leaves its next message in the outbox, as a shim does, and rings nobody. */
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>

#include "turn/loop.c"
#include "turn/waits/futexes.h"

#define MOST_ACTORS 4096
#define KINDS 3

static const char *const names[KINDS] = {"time", "futex", "descriptor"};
static double shares[KINDS];
static struct turn_process process = {.number = 1, .memory_due_ns = -1, .pidfd = -1};
static struct turn_actor actors[MOST_ACTORS];
static uint64_t state = 88172645463325252u;

/* Marsaglia's xorshift64: the same messages in each run. */
static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int drawn_kind(void)
{
    double place = (double)(drawn() >> 11) / (double)(UINT64_C(1) << 53);
    int kind = 0;

    while (kind < KINDS - 1 && place >= shares[kind])
        place -= shares[kind++];
    return kind;
}

static void read_shares(void)
{
    char name[32];
    double share;

    while (scanf("%31s %lf", name, &share) == 2)
        for (int kind = 0; kind < KINDS; kind++)
            if (strcmp(name, names[kind]) == 0)
                shares[kind] = share;
}

static struct turn_core *new_core(uint32_t count)
{
    struct turn_core *core = turn_core_new();
    static uint64_t woken_in;

    core->shared = mmap(NULL, SIMUNIX_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    core->queue = held(calloc(1, sizeof *core->queue));
    core->timeline = timeline_new();
    core->slots = held(calloc(1, sizeof *core->slots));
    core->parking = parking_new(core->shared, core->queue, core->timeline, core->slots);
    core->readiness = readiness_new(epoll_create1(EPOLL_CLOEXEC));
    core->log = held(calloc(1, sizeof *core->log));
    core->outbox = held(calloc(1, sizeof *core->outbox));
    core->limit_ns = NEVER_NS;
    process.woken_in = &woken_in;
    page_of(core)->due_ns = (uint64_t)NEVER_NS;
    for (uint32_t number = 1; number <= count; number++) {
        struct turn_actor *actor = &actors[number];

        *actor = (struct turn_actor){.number = number, .slot = number, .process = &process, .answer_at_slot = 1};
        actor->wait.kind = KIND_NONE;
        core->slots->actors[number] = actor;
        parking_make_ready(core->parking, actor);
    }
    return core;
}

/* Leave in the outbox what the holder of the turn waits for: a moment within a millisecond, alone or with a futex or a descriptor. */
static void speak(struct turn_core *core)
{
    struct simunix_outbox *outbox = (struct simunix_outbox *)((char *)core->shared + SIMUNIX_OUTBOX_OFFSET);
    int kind = drawn_kind();

    outbox->park = (struct simunix_park){.wait = kind == 0 ? PARK_TIME : kind == 1 ? PARK_FUTEX : PARK_FD,
                                         .syscall = 230,
                                         .deadline = core_now(core) + 1 + (int64_t)(drawn() % 1000000),
                                         .b = 0x1000 + core->holder->slot * 4,
                                         .c = kind == 1 ? 0xffffffffu : 3 << 8};
    outbox->slot = core->holder->slot;
    outbox->is_asked = ASKED_TO_PARK;
}

/* One message and all that happens until the next turn; 0 if the core asks for Python, which must not be. */
static int turn(struct turn_core *core)
{
    int event;

    speak(core);
    turn_outbox_take(core->shared, core->outbox);
    core->speaker = core->holder;
    event = turn_heard(core, 0);
    core->holder = NULL;
    while (event == TURN_GOES_ON && core->holder == NULL) {
        event = between(core, 0, NEVER_NS);
        if (event == TURN_DRAIN) {
            core->log->used = 0;
            event = TURN_GOES_ON;
        }
    }
    return event == TURN_GOES_ON;
}

int main(int argc, char **argv)
{
    uint32_t count = argc == 3 ? (uint32_t)atoi(argv[1]) : 0;
    long messages = argc == 3 ? atol(argv[2]) : 0;
    struct turn_core *core;
    int64_t begin_ns;

    if (count < 1 || count >= MOST_ACTORS || messages < 1)
        return 2;
    read_shares();
    core = new_core(count);
    while (core->holder == NULL)
        if (between(core, 0, NEVER_NS) != TURN_GOES_ON)
            return 1;
    begin_ns = real_time_ns();
    for (long i = 0; i < messages; i++)
        if (!turn(core))
            return 1;
    printf("%.9f %llu\n", (double)(real_time_ns() - begin_ns) / 1e9, (unsigned long long)core->log->turns);
    return 0;
}
