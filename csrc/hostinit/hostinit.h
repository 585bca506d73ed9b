/* simunix-hostinit: the first processes of emulated hosts, which are not emulated themselves, and the factory that clones them.
 *
 * The factory is two processes. The broker serves the server's one socket, which is its standard input at first and descriptor
 * 3 later, until the server is gone. The broker holds a control socket for each host, so that the server need not. The fork
 * server is a child of the broker. The first word of each message of the server names the receiver. A host's NUMBER is above 0
 * and is never given twice:
 *   birth=NUMBER     a new host: the broker makes its control socket, and asks the fork server for
 *     namespaces=all|contained|user|none   user: also a user namespace in which the caller is root; contained: one whose ids
 *         are no others' (containment/mounts.c). Answered with the host's first process
 *     kept=PATH                  of contained hosts: the host is to own this, as the caller does. May be repeated
 *   host=NUMBER      the rest of the message, with its descriptors, goes to that host
 *   close=NUMBER     close the host's control socket, and report nothing more of the host; not answered
 *   factory=0        the rest of the message is a request to the fork server:
 *     await=PROCESS              answered when that first process has ended, and with it all processes in its namespaces
 *     ksm=PAGES MILLISECONDS     merge equal pages (KSM) of all later hosts; the kernel scans PAGES every so many MILLISECONDS
 * The server receives "NUMBER TEXT": TEXT is what a host has said (below), or "gone", once, when a control socket has closed
 * without a `close`. NUMBER 0 is the factory, which answers requests, births among them, as hosts do, in their order.
 *
 * A host's first process starts the programs that the server asks for, reaps orphans, and ends all processes of the host when
 * the broker's end of the control socket closes, for whatever reason.
 *
 * Control socket (descriptor 3, SEQPACKET): a message is a list of zero-terminated words "key=value".
 *   first message of a host with namespaces of its own, carried out in order:
 *     hostname=NAME  proc=  tmpfs=MODE PATH  directory=MODE OWNER PATH  file=PATH
 *     bind=ro|rw SOURCE\tTARGET  overlay=UPPER\tWORK\tTARGET  place=file|directory PATH (with its parents, if missing)
 *     layer=UPPER\tWORK\tTARGET  as overlay=, but where that cannot be, TARGET stays as it is
 *     keep=PATH                  keep this computer's folder open, as later words hide it
 *     share=PATH                 show this computer's folder or file below folders that are hidden by now
 *     devices=TERMINAL           the usual devices, pseudoterminals of its own, and the caller's TERMINAL as the console
 *     device=MODE PATH           a file that stands for a device (csrc/shim/sys/device/device.c)
 *     seal=                      make read-only what is this computer's own in /proc and /sys
 *     root=LOWER\tBASE           another root file system, under a layer of the host's own; later words are seen from inside
 *     mounts=PATH                write into that file where something is mounted, a line for each mount
 *     storage=NUMBER FLAGS\tPATH  write down that the mount of PATH is kept on that storage
 *     merge=ABOVE\tTARGET        add the files of ABOVE to a folder in which none can be made
 *     cgroups=NAME:MODE ...      cgroups of the host's own, with these control files
 *     whole=PATH                 /proc once more, with nothing mounted over any part of it
 *     close=                     unmount this computer's files, except what is bound by then
 *   then any number of: argv=… (repeated) env=… (repeated) cwd= user= nofile= core= channel= foreground=0|1 terminal=0|1
 *   shim= entry= size=, with four descriptors (stdin, stdout, stderr, channel). With `terminal` standard input is a terminal,
 *   which becomes that of a new session, led by the program. The file `shim` is opened for the program at the number after the
 *   next to `channel`, and brought in at its exec where the loader would not (injection.c); without `shim`, no exec is traced.
 *   Or: inject=THREAD DESCRIPTOR ENTRY SIZE    the same for the next exec of that thread, which has opened the file
 *       release=THREAD                         its exec has failed
 *       reason=PROCESS                         answered with an error if that process was killed, since it could not be
 * intercepted
 *   Every message is answered by one line: "ok NUMBER" or "error TEXT". In between may come "ended PID STATUS", once for each
 *   program that was started by request and has ended.
 */
#ifndef SIMUNIX_HOSTINIT_H
#define SIMUNIX_HOSTINIT_H

#include <pwd.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CONTROL 3
#define MESSAGE_MAX (1 << 18) /* bytes of a message for a host */
#define ADDRESS_MAX 32        /* bytes of the first word of a message, or of the number before an answer */
#define ANSWER_MAX 1024
#define DESCRIPTORS 4
#define FIELD_MAX 4096

struct message {
    char text[MESSAGE_MAX + ADDRESS_MAX];
    size_t size;
    int fds[DESCRIPTORS];
    int fd_count;
    bool is_cut; /* the message came with more descriptors than this process may have open */
};

/* control.c */
int message_receive(int fd, struct message *message);
bool message_forward(int fd, const struct message *message);
void message_close_descriptors(struct message *message);
bool control_receive(struct message *message);
void control_answer(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool control_failed(const char *what, const char *which);
const char *message_next(const struct message *message, const char *word);
const char *word_value(const char *word, const char *key);

/* children.c */
void children_outlive_none(void);
bool children_signal(int number);
void children_await(pid_t child);

/* broker.c, fork_server.c */
int broker_run(void);
int fork_server_start(pid_t *process);

/* outbox.c */
void outbox_put(long number, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool outbox_send(void);
bool outbox_is_empty(void);

/* containment/mounts.c */
bool contained_enter(const struct message *message);
void contained_leave(void);
void contained_forget(void);
bool contained_map(pid_t process);
bool mount_take_alone(const char *path, const char *place);

/* containment/lowers.c */
void lowers_make(char *const *mounts, size_t count);
bool lowers_enter(void);
void lowers_take(void);
bool lowers_find(const char *path, char *found, size_t size);
void lowers_forget(void);

/* containment/ceilings.c */
void ceilings_raise(void);
void ceilings_restore(void);
void ceilings_without_priority(void);

/* birth.c, ksm.c: they carry out requests to the fork server */
void birth_answer(const struct message *message, const char *which);
void death_answer(const struct message *message, const char *pid);
void ksm_answer(const struct message *message, const char *value);
void ksm_leave(void);
void ksm_end(void);

/* host.c */
bool host_await(void);
bool host_set_up(void);
void host_serve(bool isolated);

/* setup/setup.c: returns false after having answered with an error */
bool setup_run(const struct message *message);

/* setup/directive.c */
bool directive_make_file(const char *path);
bool directive_make_read_only(const char *target);
const char *take_field(const char *text, char *field, char separator);

/* setup/outside.c. A function that carries out a directive returns false after having answered with an error. */
bool outside_keep(const char *path);
void outside_path(const char *source, char *path, size_t size);
bool outside_share(const char *value);
void outside_forget(void);
bool path_is_below(const char *path, const char *folder);

/* setup/root.c */
const char *root_outside(void);
bool root_is_entered(void);
bool root_enter(const char *value);
bool root_close(const char *unused);

/* setup/overlay.c */
void overlay_in_user_namespace(void);
bool overlay_mount(const char *first, const char *lower, const char *upper, const char *work, const char *target);
bool overlay_merge(const char *above, const char *target);

/* setup/devices.c */
#define DEVICES 6
extern const struct device {
    const char *path;
    unsigned major, minor;
} common_devices[DEVICES]; /* the devices that every program expects in /dev */
bool devices_make(const char *terminal);
bool device_make_file(const char *value);

/* setup/seal.c */
bool seal_mounts(const char *unused);
void seal_capabilities(void);

/* users.c */
const struct passwd *user_find(const char *name);
bool user_join_groups(const struct passwd *user);

/* network.c */
bool network_up(void);

/* injection.c */
struct shim_file {
    int descriptor; /* the descriptor of the shim's file in the process that is about to exec */
    long entry;     /* the address to jump to, counted from the start of the shim's file */
    long size;
    bool only_if_needed; /* the environment contains LD_PRELOAD with the shim, for programs whose loader reads it */
};
void injection_start(void);
bool injection_begin(pid_t thread, const struct shim_file *shim);
const char *injection_await(pid_t child, bool *was_killed);
const char *injection_check(pid_t child, bool *was_killed);
bool injection_took(pid_t thread, int status);
bool injection_answer(const struct message *message);

/* spawn.c */
void spawn_answer(struct message *message);
bool spawn_was_asked_for(int pid);

#endif
