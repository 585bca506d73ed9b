/* Units: scopes (processes that another program has started, in a cgroup of their own) and slices (groups of units), as
 * in systemd. A unit is a folder of the host's cgroups. A scope ends when no process is left in its folder. */
#include "bus.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_.\\-@"
#define ALL_CONTROLLERS "cpuset cpu io memory pids"
#define USUAL_CONTROLLERS "memory pids" /* systemd counts these values for each unit */

struct unit *units;
static int watches = -1;
static uint32_t latest_job;

int64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

bool name_is(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t tail = strlen(suffix);

    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

bool name_is_valid(const char *name)
{
    return name[0] != '\0' && strlen(name) < NAME_ROOM && name[strspn(name, NAME_CHARACTERS)] == '\0' &&
           strchr(name, '.') != NULL;
}

/* Write the path of a unit's object: each character but letters and digits becomes _ and two hexadecimal digits, and so
 * does a digit at the beginning. */
void object_path(const char *name, char *path, size_t room)
{
    size_t used = (size_t)snprintf(path, room, SYSTEMD_PATH "/unit/");

    for (size_t i = 0; name[i] != '\0' && used + 4 < room; i++) {
        char byte = name[i];
        bool is_letter = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');

        if (is_letter || (i > 0 && byte >= '0' && byte <= '9'))
            path[used++] = byte;
        else
            used += (size_t)snprintf(path + used, room - used, "_%02x", (unsigned char)byte);
    }
    path[used] = '\0';
}

struct unit *unit_named(const char *name)
{
    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        if (unit->state != UNIT_DEAD && strcmp(unit->name, name) == 0)
            return unit;
    return NULL;
}

struct unit *unit_at(const char *path)
{
    char own[4 * NAME_ROOM];

    for (struct unit *unit = units; unit != NULL; unit = unit->next) {
        object_path(unit->name, own, sizeof own);
        if (unit->state != UNIT_DEAD && strcmp(own, path) == 0)
            return unit;
    }
    return NULL;
}

/* Return the innermost unit whose cgroup contains this one. */
struct unit *unit_of_group(const char *group)
{
    struct unit *found = NULL;

    for (struct unit *unit = units; unit != NULL; unit = unit->next) {
        size_t length = strlen(unit->group);

        if (unit->state != UNIT_DEAD && strncmp(unit->group, group, length) == 0 &&
            (group[length] == '\0' || group[length] == '/') && (found == NULL || length > strlen(found->group)))
            found = unit;
    }
    return found;
}

const char *state_name(const struct unit *unit)
{
    static const char *const names[] = {"active", "deactivating", "active", "inactive"};

    return names[unit->state];
}

const char *substate_name(const struct unit *unit)
{
    static const char *const names[] = {"running", "stop-sigterm", "abandoned", "dead"};

    return unit->is_slice && unit->state == UNIT_ACTIVE ? "active" : names[unit->state];
}

/* Signals */

void job_new(char *path, size_t room)
{
    snprintf(path, room, SYSTEMD_PATH "/job/%u", ++latest_job);
}

void job_done(const char *job, const char *unit, const char *result)
{
    struct signal_head head = {SYSTEMD_OWNER, SYSTEMD_PATH, MANAGER_INTERFACE, "JobRemoved", "uoss"};
    struct writer body = {0};

    if (job[0] == '\0')
        return;
    put_u32(&body, (uint32_t)strtoul(strrchr(job, '/') + 1, NULL, 10));
    put_string(&body, job);
    put_string(&body, unit);
    put_string(&body, result);
    broadcast(&head, &body);
    free(body.data);
}

/* Send UnitNew or UnitRemoved, which systemd sends as long as a client has subscribed. */
void tell_unit(const char *member, const struct unit *unit)
{
    struct signal_head head = {SYSTEMD_OWNER, SYSTEMD_PATH, MANAGER_INTERFACE, member, "so"};
    struct writer body = {0};
    char path[4 * NAME_ROOM];
    bool is_wanted = false;

    for (struct client *client = clients; client != NULL; client = client->next)
        is_wanted |= client->is_told && !client->is_gone;
    if (!is_wanted)
        return;
    object_path(unit->name, path, sizeof path);
    put_string(&body, unit->name);
    put_string(&body, path);
    broadcast(&head, &body);
    free(body.data);
}

/* Births */

static struct unit *admit(const char *name, const char *group)
{
    struct unit **end = &units;
    struct unit *unit = allocate(sizeof *unit);
    struct timespec time;
    unsigned char bytes[16] = {0};

    while (*end != NULL)
        end = &(*end)->next;
    *end = unit;
    snprintf(unit->name, sizeof unit->name, "%s", name);
    snprintf(unit->group, sizeof unit->group, "%s", group);
    settings_begin(&unit->settings);
    snprintf(unit->settings.description, sizeof unit->settings.description, "%s", name);
    unit->deadline_ns = -1;
    unit->watch = -1;
    clock_gettime(CLOCK_REALTIME, &time);
    unit->since_us = (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
    if (getrandom(bytes, sizeof bytes, 0) < 0)
        fail("no random bytes: %m");
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(unit->invocation + 2 * i, 3, "%02x", bytes[i]);
    return unit;
}

/* Write the name of the slice that contains a slice: a.slice for a-b.slice, -.slice for a.slice. */
static void slice_above(const char *name, char *above)
{
    char *dash;

    snprintf(above, NAME_ROOM, "%s", name);
    *strrchr(above, '.') = '\0';
    dash = strrchr(above, '-');
    if (dash == NULL || dash == above)
        strcpy(above, "-.slice");
    else
        strcpy(dash, ".slice");
}

struct unit *slice_ensure(const char *name)
{
    char group[PATH_ROOM + NAME_ROOM] = "";
    char above[NAME_ROOM];
    struct unit *unit = unit_named(name);

    if (unit != NULL)
        return unit;
    if (strcmp(name, "-.slice") != 0) {
        slice_above(name, above);
        if (snprintf(group, sizeof group, "%s/%s", slice_ensure(above)->group, name) >= PATH_ROOM)
            fail("%s: its name is too long for a folder", name);
        cgroup_make(group);
    }
    unit = admit(name, group);
    unit->is_slice = true;
    slice_above(name, unit->settings.slice);
    tell_unit("UnitNew", unit);
    return unit;
}

/* Write the controllers that a unit needs, by the names of the files that it sets. */
static void controllers_of(const struct settings *settings, char *text, size_t room)
{
    size_t used = (size_t)snprintf(text, room, "%s", settings->delegate ? ALL_CONTROLLERS : USUAL_CONTROLLERS);

    for (size_t i = 0; i < LIMITS; i++)
        if (settings->given >> i & 1 && limits[i].file[0] != '\0')
            used += (size_t)snprintf(text + used, room - used, " %.*s", (int)strcspn(limits[i].file, "."), limits[i].file);
}

static void enable_above(const char *group, const char *controllers)
{
    char above[PATH_ROOM];

    cgroup_enable("/", controllers);
    for (size_t length = 1; group[length] != '\0'; length++)
        if (group[length] == '/') {
            snprintf(above, sizeof above, "%.*s", (int)length, group);
            cgroup_enable(above, controllers);
        }
}

/* Have the kernel report when the cgroup of a scope becomes empty. */
static void watch(struct unit *unit)
{
    char path[2 * PATH_ROOM];

    cgroup_path(unit->group, "cgroup.events", path, sizeof path);
    if (watches < 0)
        watches = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    unit->watch = inotify_add_watch(watches, path, IN_MODIFY);
}

/* Take over a scope of an earlier bus, which has ended since. */
void unit_adopt(const char *name, const char *group)
{
    struct unit *unit = admit(name, group);
    const char *slice = group;
    const char *end = strrchr(group, '/');

    for (const char *at = group; at < end; at++)
        slice = *at == '/' ? at + 1 : slice;
    snprintf(unit->settings.slice, sizeof unit->settings.slice, "%.*s", slice < end ? (int)(end - slice) : 7,
             slice < end ? slice : "-.slice");
    unit->state = UNIT_ABANDONED;
    watch(unit);
}

static int open_group(struct unit *unit)
{
    char controllers[NAME_ROOM];
    int error;

    controllers_of(&unit->settings, controllers, sizeof controllers);
    enable_above(unit->group, controllers);
    error = cgroup_make(unit->group);
    if (error == 0)
        settings_apply(&unit->settings, unit->group, unit->settings.given);
    if (error != 0 || unit->is_slice)
        return error;
    watch(unit);
    for (size_t i = 0; i < unit->settings.pid_count; i++) {
        int failed = cgroup_attach(unit->group, unit->settings.pids[i]);

        error = error == 0 ? failed : error;
    }
    return error;
}

/* Start a unit. If its processes cannot be moved, the unit is lost, as systemd says by the result of the job. */
struct unit *unit_make(const char *name, const struct settings *settings)
{
    const char *slice = settings->slice[0] != '\0' ? settings->slice : "system.slice";
    char group[PATH_ROOM + NAME_ROOM];
    struct unit *unit;

    if (name_is(name, ".slice"))
        unit = slice_ensure(name);
    else if (snprintf(group, sizeof group, "%s/%s", slice_ensure(slice)->group, name) >= PATH_ROOM)
        return NULL;
    else
        unit = admit(name, group);
    unit->settings = *settings;
    if (settings->description[0] == '\0')
        snprintf(unit->settings.description, sizeof unit->settings.description, "%s", name);
    if (unit->is_slice)
        slice_above(name, unit->settings.slice);
    else
        snprintf(unit->settings.slice, sizeof unit->settings.slice, "%s", slice);
    unit->is_kept = true;
    unit->is_lost = open_group(unit) != 0;
    return unit;
}

/* Ends */

void unit_stop(struct unit *unit, const char *job)
{
    uint64_t patience_us = unit->settings.stop_timeout_us;

    if (job[0] != '\0' && unit->stopper[0] != '\0')
        job_done(unit->stopper, unit->name, "canceled");
    snprintf(unit->stopper, sizeof unit->stopper, "%s", job);
    if (unit->state != UNIT_STOPPING) {
        unit->state = UNIT_STOPPING;
        unit->deadline_ns = patience_us == UINT64_MAX ? -1 : now_ns() + (int64_t)patience_us * 1000;
        cgroup_signal(unit->group, SIGTERM);
    }
    unit_look(unit);
}

void unit_end(struct unit *unit)
{
    if (unit->state == UNIT_DEAD)
        return;
    unit->state = UNIT_DEAD;
    if (unit->watch >= 0)
        inotify_rm_watch(watches, unit->watch);
    if (unit->group[0] != '\0')
        cgroup_remove(unit->group);
    job_done(unit->stopper, unit->name, "done");
    tell_unit("UnitRemoved", unit);
    settings_end(&unit->settings);
}

void unit_look(struct unit *unit)
{
    bool ends = !unit->is_slice || unit->state == UNIT_STOPPING;

    if (ends && unit->state != UNIT_DEAD && !cgroup_is_populated(unit->group))
        unit_end(unit);
    else if (unit->deadline_ns >= 0 && unit->state == UNIT_STOPPING && now_ns() >= unit->deadline_ns) {
        unit->deadline_ns = -1;
        cgroup_signal(unit->group, SIGKILL);
    }
}

/* Check all units, and remove those that have ended. */
void units_look(void)
{
    char events[4096];

    while (watches >= 0 && read(watches, events, sizeof events) > 0)
        ;
    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        unit_look(unit);
    for (struct unit **place = &units; *place != NULL;) {
        struct unit *unit = *place;

        if (unit->state != UNIT_DEAD) {
            place = &unit->next;
            continue;
        }
        *place = unit->next;
        free(unit);
    }
}

int64_t units_deadline(void)
{
    int64_t first = -1;

    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        if (unit->deadline_ns >= 0 && (first < 0 || unit->deadline_ns < first))
            first = unit->deadline_ns;
    return first;
}

/* Return whether this bus has to go on for a unit: one that a client has started and has not abandoned. */
bool units_are_left(void)
{
    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        if (unit->is_kept && (unit->state == UNIT_ACTIVE || unit->state == UNIT_STOPPING))
            return true;
    return false;
}

int units_watch_fd(void)
{
    return watches;
}
