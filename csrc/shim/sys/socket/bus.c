/* The host's system bus, which the server starts at the first connect to it (csrc/bus). A host that never connects has
 * none. If a host's own dbus-daemon listens there, the server is never asked. */
#include "shim/core/clock.h"
#include "shim/core/memory.h"
#include "shim/sys/socket/socket.h"
#include "shim/turn/turn.h"

#define TURNS 8    /* how many turns the bus gets before virtual time passes */
#define TRIES 1000 /* a bus whose computing is charged may compute for a while, and a bus with many clients may be slow */
#define PAUSE_NS 1000000

static const char *const names[] = {"/run/dbus/system_bus_socket", "/var/run/dbus/system_bus_socket"};
static const char of_hosts[] = "/run/simunix/mounts"; /* only a process in the root directory of its host finds the bus */

bool bus_is_named(const struct call *call)
{
    const struct address_unix {
        uint16_t family;
        char path[108];
    } *address = (const void *)call->a[1];
    size_t room = (size_t)call->a[2] - sizeof address->family;

    if (is_bad_pointer(address) || call->a[2] < 3 || address->family != 1 || room > sizeof address->path)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = text_length(names[i]);

        if (room >= length && memcmp(address->path, names[i], length) == 0 && (room == length || address->path[length] == '\0'))
            return NATIVE(faccessat, AT_FDCWD, of_hosts, 0) == 0;
    }
    return false;
}

static long ask_for_bus(struct call *call)
{
    struct msgpack_writer writer;
    struct reply reply;

    request_start(call->thread, &writer, OP_BUS);
    return request_call(call->thread, &writer, &reply);
}

/* Have the bus started, and wait for another attempt. Returns 0, or the errno of the reason why no further attempt must
 * be made. `tries` counts the attempts. */
long bus_await(struct call *call, int tries)
{
    struct wait wait = {.kind = PARK_YIELD, .deadline = NEVER};
    long result;

    if (tries >= TRIES || ask_for_bus(call) != 0)
        return -ENOENT;
    if (tries < TURNS) {
        park(call, &wait);
        return 0;
    }
    wait = (struct wait){.kind = PARK_TIME, .deadline = clock_after(call->thread, PAUSE_NS)};
    result = wait_on(call, &wait, true);
    return result < 0 ? result : 0;
}
