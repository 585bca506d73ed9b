/* The system bus of an emulated host, together with systemd's answers about scopes and slices. The bus is an ordinary
 * program, emulated like any other. The server starts it when a process of the host first connects to the bus
 * (csrc/shim/sys/socket/bus.c).
 *
 *     simunix-bus [SOCKET [CGROUPS]]     by default /run/dbus/system_bus_socket and /sys/fs/cgroup
 *
 * The bus is the message bus (org.freedesktop.DBus) and systemd (org.freedesktop.systemd1) in one process. As on a
 * Debian without further configuration, no client may own a name or call another client, so this program answers all
 * calls. The bus ends when its last client is gone and no unit is left for it to look after; the next connect starts it
 * again.
 *
 *     main.c        the socket, the loop of waits            driver.c      what the message bus itself answers
 *     wire.c        values as D-Bus writes them              manager.c     systemd: units are started and stopped
 *     message.c     messages: heads, answers, signals        properties.c  systemd: what units and the manager show
 *     client.c      connections: buffers, turns of bytes     settings.c    properties that a unit is started with
 *     auth.c        the dialogue before the first message    unit.c        units, their names and lives
 *     match.c       which signals a client wants             cgroup.c      folders below /sys/fs/cgroup
 *     inquiry.c     systemd: which units there are           introspection.c  the methods of objects, as text
 *     adoption.c    units that are there at the start        fail.c        errors that end the bus
 *     start.c of csrc/jobs: the entry point, for any C library
 */
#ifndef SIMUNIX_BUS_H
#define SIMUNIX_BUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MESSAGE_MAX (1 << 20)
#define PATH_ROOM 512
#define NAME_ROOM 256
#define BUS_NAME "org.freedesktop.DBus"
#define BUS_PATH "/org/freedesktop/DBus"
#define SYSTEMD_NAME "org.freedesktop.systemd1"
#define SYSTEMD_PATH "/org/freedesktop/systemd1"
#define SYSTEMD_OWNER ":1.0" /* the unique name of systemd on the bus */
#define MANAGER_INTERFACE "org.freedesktop.systemd1.Manager"
#define UNIT_INTERFACE "org.freedesktop.systemd1.Unit"
#define SCOPE_INTERFACE "org.freedesktop.systemd1.Scope"
#define SLICE_INTERFACE "org.freedesktop.systemd1.Slice"
#define PROPERTIES_INTERFACE "org.freedesktop.DBus.Properties"
#define INTROSPECT_INTERFACE "org.freedesktop.DBus.Introspectable"
#define PEER_INTERFACE "org.freedesktop.DBus.Peer"
#define ERROR_ACCESS_DENIED "org.freedesktop.DBus.Error.AccessDenied"
#define ERROR_INVALID_ARGS "org.freedesktop.DBus.Error.InvalidArgs"
#define ERROR_UNKNOWN_METHOD "org.freedesktop.DBus.Error.UnknownMethod"
#define ERROR_NO_SUCH_UNIT "org.freedesktop.systemd1.NoSuchUnit"
#define ERROR_UNIT_EXISTS "org.freedesktop.systemd1.UnitExists"
#define SYSTEMD_VERSION "252"

/* wire.c: a place in bytes that another program has written. After a mistake in the bytes, reading gives only zeros and
 * empty texts. */
struct reader {
    const uint8_t *data;
    size_t size;
    size_t at;
    bool is_big; /* the bytes are in big-endian order */
    bool is_bad;
};
struct writer {
    uint8_t *data;
    size_t size;
    size_t room;
};
uint8_t get_byte(struct reader *reader);
uint32_t get_u32(struct reader *reader);
uint64_t get_u64(struct reader *reader);
const char *get_string(struct reader *reader);
const char *get_signature(struct reader *reader);
size_t get_array(struct reader *reader, char type); /* returns where the array ends */
void reader_align(struct reader *reader, size_t to);
void skip_value(struct reader *reader, const char **signature);
size_t alignment_of(char type);
void put_align(struct writer *writer, size_t to);
void put_byte(struct writer *writer, uint8_t value);
void put_u32(struct writer *writer, uint32_t value);
void put_u64(struct writer *writer, uint64_t value);
void put_string(struct writer *writer, const char *text);
void put_signature(struct writer *writer, const char *signature);
size_t put_array_begin(struct writer *writer, char type); /* returns the value to pass to put_array_end */
void put_array_end(struct writer *writer, size_t begin, char type);
void put_bytes(struct writer *writer, const void *bytes, size_t size);

/* message.c */
enum message_type { METHOD_CALL = 1, METHOD_RETURN = 2, ERROR_REPLY = 3, SIGNAL = 4 };
struct message {
    uint8_t type;
    uint8_t flags;
    uint32_t serial;
    const char *path;
    const char *interface;
    const char *member;
    const char *destination;
    const char *sender;
    const char *signature; /* never NULL */
    struct reader body;
};
struct client;
/* returns 0 if more bytes are needed, SIZE_MAX for bytes that are no message */
size_t message_size(const uint8_t *bytes, size_t size);
bool message_read(const uint8_t *bytes, size_t size, struct message *message);
void answer(struct client *client, const struct message *call, const char *sender, const char *signature,
            const struct writer *body);
void answer_nothing(struct client *client, const struct message *call, const char *sender);
void answer_string(struct client *client, const struct message *call, const char *sender, const char *signature,
                   const char *text);
void answer_u32(struct client *client, const struct message *call, const char *sender, const char *signature, uint32_t value);
void answer_error(struct client *client, const struct message *call, const char *sender, const char *name, const char *format,
                  ...) __attribute__((format(printf, 5, 6)));
void answer_unknown(struct client *client, const struct message *call, const char *sender);
struct signal_head {
    const char *sender;
    const char *path;
    const char *interface;
    const char *member;
    const char *signature;
};
void send_signal(struct client *client, const struct signal_head *head, const struct writer *body);
void broadcast(const struct signal_head *head, const struct writer *body); /* to all clients that have asked for the signal */

/* client.c */
struct rule;
struct client {
    int fd;
    uint32_t number; /* the client's unique name is :1.NUMBER once it has called Hello */
    pid_t pid;
    uid_t user;
    gid_t group;
    uint32_t serial;
    bool has_begun; /* the authentication is over, so that messages may come */
    bool has_name;
    bool is_told; /* the client has subscribed to changes of units */
    bool is_gone;
    int auth; /* the state of the authentication: auth.c */
    struct rule *rules;
    struct writer in;
    struct writer out;
    char name[16];
    struct client *next;
};
extern struct client *clients;
void client_accept(int listener);
void client_turn(struct client *client, short events);
void clients_forget_gone(void);
struct client *client_named(const char *name);

/* auth.c: read whole lines from `in`; returns false if the client must be disconnected */
bool auth_turn(struct client *client);
const char *bus_guid(void);

/* match.c */
const char *rule_add(struct client *client, const char *text); /* returns NULL, or the reason why the text is no rule */
bool rule_remove(struct client *client, const char *text);
void rules_free(struct client *client);
bool client_wants(const struct client *client, const struct signal_head *head, const struct writer *body);

/* driver.c, manager.c, inquiry.c, properties.c: each function answers the call */
void driver_call(struct client *client, struct message *call);
void driver_said_hello(struct client *client);
void driver_lost(struct client *client);
void systemd_call(struct client *client, struct message *call);
bool properties_call(struct client *client, struct message *call);
struct unit *unit_known(struct client *client, struct message *call, const char *name, const char *format);
void unit_get(struct client *client, struct message *call);
void unit_load(struct client *client, struct message *call);
void unit_get_by_pid(struct client *client, struct message *call);
void units_list(struct client *client, struct message *call);
const char *introspection(const char *path);

/* settings.c */
struct limit { /* a property of a unit that is a file of its cgroup */
    const char *property;
    const char *file;
    char type; /* t: a number or "max"; y: a mask of bits; p: a number per second of CPU time */
    uint64_t initial;
};
#define LIMITS 16
extern const struct limit limits[LIMITS];
struct settings {
    char description[NAME_ROOM];
    char slice[NAME_ROOM];
    pid_t *pids;
    size_t pid_count;
    bool has_pids;
    bool delegate;
    uint64_t stop_timeout_us;
    uint64_t quota_period_us;
    uint64_t values[LIMITS];
    char masks[LIMITS][NAME_ROOM];
    uint32_t given; /* a bit for each element of `limits` that the client has set */
};
void settings_begin(struct settings *settings);
void settings_end(struct settings *settings);
/* Read an array a(sv) of properties out of a call. Returns false after having answered the call with an error. */
bool settings_read(struct settings *settings, struct client *client, struct message *call, bool is_new);
int settings_apply(const struct settings *settings, const char *group, uint32_t which); /* returns 0 or -errno */

/* unit.c */
enum unit_state { UNIT_ACTIVE, UNIT_STOPPING, UNIT_ABANDONED, UNIT_DEAD };
struct unit {
    char name[NAME_ROOM];
    char group[PATH_ROOM];   /* the path of the unit's cgroup below the root of cgroups, with a slash at the beginning */
    char stopper[PATH_ROOM]; /* the D-Bus path of the systemd job that stops the unit; "" if there is none */
    struct settings settings;
    enum unit_state state;
    bool is_slice;
    bool was_killed;
    bool is_lost; /* the unit's processes could not be put into its cgroup */
    bool is_kept; /* a client has asked to keep the unit */
    int watch;
    uint64_t since_us; /* the real time of the host, in microseconds */
    int64_t deadline_ns;
    char invocation[33];
    struct unit *next;
};
extern struct unit *units;
bool name_is_valid(const char *name);
bool name_is(const char *name, const char *suffix);
void object_path(const char *name, char *path, size_t room);
struct unit *unit_named(const char *name);
struct unit *unit_at(const char *path);
struct unit *unit_of_group(const char *group);
struct unit *unit_make(const char *name, const struct settings *settings); /* returns NULL on failure, with errno set */
struct unit *slice_ensure(const char *name);
void unit_adopt(const char *name, const char *group);
void unit_stop(struct unit *unit, const char *job);
void unit_look(struct unit *unit); /* check whether the unit's cgroup has become empty, or the time to stop the unit has
                                    * run out */
void unit_end(struct unit *unit);
void units_look(void);
int64_t units_deadline(void); /* returns -1 if there is none */
bool units_are_left(void);
int units_watch_fd(void);
const char *state_name(const struct unit *unit);
const char *substate_name(const struct unit *unit);
int64_t now_ns(void);
void job_done(const char *job, const char *unit, const char *result);
void job_new(char *path, size_t room);
void tell_unit(const char *member, const struct unit *unit);

/* adoption.c */
void units_adopt(void);

/* cgroup.c */
void cgroup_begin(const char *root);
void cgroup_path(const char *group, const char *file, char *path, size_t room);
int cgroup_make(const char *group); /* returns 0 or -errno */
int cgroup_enable(const char *group, const char *controllers);
int cgroup_write(const char *group, const char *file, const char *text);
bool cgroup_read(const char *group, const char *file, char *text, size_t room);
bool cgroup_is_populated(const char *group);
int cgroup_attach(const char *group, pid_t pid);
void cgroup_signal(const char *group, int number); /* send the signal to all processes in the cgroup and in the cgroups
                                                    * below it */
size_t cgroup_pids(const char *group, pid_t *pids, size_t room);
void cgroup_remove(const char *group);
bool cgroup_of(pid_t pid, char *group, size_t room);
void cgroup_for_each_below(const char *group, void (*act)(const char *below, int number), int number);

/* fail.c */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *allocate(size_t size);

#endif
