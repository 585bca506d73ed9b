/* systemd, as far as scopes and slices are concerned: its Manager, the methods of units, and which users may call these
 * methods. */
#include "bus.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERROR_UNKNOWN_OBJECT "org.freedesktop.DBus.Error.UnknownObject"

static const char *const modes[] = {
    "fail", "replace", "replace-irreversibly", "isolate", "flush", "ignore-dependencies", "ignore-requirements", "triggering"};

static bool mode_is_right(struct client *client, struct message *call, const char *mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i], mode) == 0)
            return true;
    answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Job mode %s is invalid.", mode);
    return false;
}

/* Return whether a client may change units: only root may, since a host has no polkit that could be asked. */
static bool may_change(struct client *client, struct message *call)
{
    if (client->user == 0)
        return true;
    answer_error(client, call, SYSTEMD_OWNER, ERROR_ACCESS_DENIED, "Access denied");
    return false;
}

static void answer_job(struct client *client, struct message *call, const char *job)
{
    answer_string(client, call, SYSTEMD_OWNER, "o", job);
}

/* Starting */

static bool can_start(struct client *client, struct message *call, const char *name)
{
    if (!name_is_valid(name))
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Invalid unit name or type.");
    else if (name_is(name, ".service") || name_is(name, ".timer") || name_is(name, ".mount") || name_is(name, ".socket") ||
             name_is(name, ".automount") || name_is(name, ".path"))
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.NotSupported",
                     "%s: simunix has scopes and slices only", name);
    else if (!name_is(name, ".scope") && !name_is(name, ".slice"))
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Invalid unit name or type.");
    else if (unit_named(name) != NULL)
        answer_error(client, call, SYSTEMD_OWNER, ERROR_UNIT_EXISTS, "Unit %s was already loaded or has a fragment file.",
                     name);
    else
        return true;
    return false;
}

static bool processes_are_there(const struct settings *settings, struct client *client, struct message *call)
{
    for (size_t i = 0; i < settings->pid_count; i++) {
        if (settings->pids[i] == 1)
            answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Process %d is a manager process, refusing.", 1);
        else if (kill(settings->pids[i], 0) != 0 && errno == ESRCH)
            answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.UnixProcessIdUnknown",
                         "Process with ID %d does not exist.", (int)settings->pids[i]);
        else
            continue;
        return false;
    }
    return true;
}

static void start_unit_as_said(struct client *client, struct message *call, const char *name, struct settings *settings)
{
    char job[PATH_ROOM];
    struct unit *unit = unit_make(name, settings);

    if (unit == NULL) {
        settings_end(settings);
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Invalid unit name or type.");
        return;
    }
    job_new(job, sizeof job);
    answer_job(client, call, job);
    if (!unit->is_slice)
        tell_unit("UnitNew", unit);
    job_done(job, name, unit->is_lost ? "failed" : "done");
    if (unit->is_lost)
        unit_end(unit);
}

static void start_transient_unit(struct client *client, struct message *call)
{
    const char *name = get_string(&call->body);
    const char *mode = get_string(&call->body);
    struct settings settings;

    if (!mode_is_right(client, call, mode) || !can_start(client, call, name))
        return;
    settings_begin(&settings);
    if (!settings_read(&settings, client, call, true) || !processes_are_there(&settings, client, call)) {
        settings_end(&settings);
        return;
    }
    if (settings.pid_count == 0 && name_is(name, ".scope")) {
        settings_end(&settings);
        answer_error(client, call, SYSTEMD_OWNER, ERROR_NO_SUCH_UNIT, "Unit %s not found.", name);
        return;
    }
    start_unit_as_said(client, call, name, &settings);
}

static void start_unit(struct client *client, struct message *call)
{
    const char *name = get_string(&call->body);
    char job[PATH_ROOM];

    if (!mode_is_right(client, call, get_string(&call->body)))
        return;
    if (unit_named(name) == NULL && name_is_valid(name) && name_is(name, ".slice"))
        slice_ensure(name);
    if (unit_known(client, call, name, "Unit %s not found.") == NULL)
        return;
    job_new(job, sizeof job);
    answer_job(client, call, job);
    job_done(job, name, "done");
}

/* Stopping */

/* Stop all units in a slice before the slice itself. */
static void stop_units_in(const struct unit *slice)
{
    size_t length = strlen(slice->group);

    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        if (unit != slice && unit->state != UNIT_DEAD && strncmp(unit->group, slice->group, length) == 0 &&
            unit->group[length] == '/')
            unit_stop(unit, "");
}

static void stop(struct client *client, struct message *call, struct unit *unit)
{
    char job[PATH_ROOM];

    if (unit->group[0] == '\0') {
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.systemd1.OnlyByDependency",
                     "Operation refused, unit %s may be requested by dependency only (it is configured to refuse manual "
                     "start/stop).",
                     unit->name);
        return;
    }
    job_new(job, sizeof job);
    answer_job(client, call, job);
    if (unit->is_slice)
        stop_units_in(unit);
    unit_stop(unit, job);
}

static void stop_unit(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");

    if (unit != NULL && mode_is_right(client, call, get_string(&call->body)))
        stop(client, call, unit);
}

static void kill_unit(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");
    uint32_t number;

    get_string(&call->body); /* for a scope, all of its processes are meant, whichever process the caller names */
    number = get_u32(&call->body);
    if (unit == NULL)
        return;
    if (number == 0 || number >= NSIG) {
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Signal number out of range.");
        return;
    }
    cgroup_signal(unit->group, (int)number);
    answer_nothing(client, call, SYSTEMD_OWNER);
}

static void abandon(struct client *client, struct message *call, struct unit *unit)
{
    if (unit->is_slice || unit->state != UNIT_ACTIVE) {
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.systemd1.ScopeNotRunning",
                     "Scope %s is not running, cannot abandon.", unit->name);
        return;
    }
    unit->state = UNIT_ABANDONED;
    answer_nothing(client, call, SYSTEMD_OWNER);
}

static void abandon_scope(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");

    if (unit != NULL)
        abandon(client, call, unit);
}

/* Changing */

static void set_unit_properties(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");
    struct settings changed;
    uint32_t given;

    if (unit == NULL)
        return;
    get_u32(&call->body); /* whether the properties are to survive a boot: units of this bus do not survive one */
    changed = unit->settings;
    given = changed.given;
    changed.given = 0;
    changed.pids = NULL;
    changed.pid_count = 0;
    changed.has_pids = false;
    changed.slice[0] = '\0';
    if (!settings_read(&changed, client, call, false)) {
        settings_end(&changed);
        return;
    }
    settings_apply(&changed, unit->group, changed.given);
    changed.given |= given;
    changed.pids = unit->settings.pids;
    changed.pid_count = unit->settings.pid_count;
    snprintf(changed.slice, sizeof changed.slice, "%s", unit->settings.slice);
    unit->settings = changed;
    answer_nothing(client, call, SYSTEMD_OWNER);
}

/* Move processes into a unit's cgroup, or a cgroup below it. */
static void attach_processes(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");
    const char *below = get_string(&call->body);
    size_t end = get_array(&call->body, 'u');
    char group[2 * PATH_ROOM];

    if (unit == NULL)
        return;
    if (below[0] != '\0' && (below[0] != '/' || strstr(below, "/..") != NULL || strlen(below) >= PATH_ROOM)) {
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Control group path is not normalized: %s", below);
        return;
    }
    snprintf(group, sizeof group, "%s%s", unit->group, below);
    cgroup_make(group);
    while (call->body.at < end && !call->body.is_bad) {
        uint32_t pid = get_u32(&call->body);
        int error = cgroup_attach(group, pid == 0 ? client->pid : (pid_t)pid);

        if (error < 0) {
            answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.Failed", "Failed to attach process: %s",
                         strerror(-error));
            return;
        }
    }
    answer_nothing(client, call, SYSTEMD_OWNER);
}

static void subscribe(struct client *client, struct message *call)
{
    bool wants = strcmp(call->member, "Subscribe") == 0;

    if (wants == client->is_told)
        answer_error(client, call, SYSTEMD_OWNER,
                     wants ? "org.freedesktop.systemd1.AlreadySubscribed" : "org.freedesktop.systemd1.NotSubscribed",
                     wants ? "Client is already subscribed." : "Client is not subscribed.");
    else
        answer_nothing(client, call, SYSTEMD_OWNER);
    client->is_told = wants;
}

static void succeed(struct client *client, struct message *call)
{
    answer_nothing(client, call, SYSTEMD_OWNER);
}

static const struct {
    const char *member;
    const char *signature;
    bool changes;
    void (*run)(struct client *client, struct message *call);
} methods[] = {
    {"StartTransientUnit", "ssa(sv)a(sa(sv))", true, start_transient_unit},
    {"StartUnit", "ss", true, start_unit},
    {"StopUnit", "ss", true, stop_unit},
    {"KillUnit", "ssi", true, kill_unit},
    {"AbandonScope", "s", true, abandon_scope},
    {"SetUnitProperties", "sba(sv)", true, set_unit_properties},
    {"AttachProcessesToUnit", "ssau", true, attach_processes},
    {"ResetFailed", "", true, succeed},
    {"ResetFailedUnit", "s", true, succeed},
    {"GetUnit", "s", false, unit_get},
    {"LoadUnit", "s", false, unit_load},
    {"GetUnitByPID", "u", false, unit_get_by_pid},
    {"ListUnits", "", false, units_list},
    {"Subscribe", "", false, subscribe},
    {"Unsubscribe", "", false, subscribe},
};

static bool is_interface(const struct message *call, const char *name)
{
    return call->interface == NULL || strcmp(call->interface, name) == 0;
}

static void manager_call(struct client *client, struct message *call)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].member, call->member) != 0 || !is_interface(call, MANAGER_INTERFACE))
            continue;
        if (strcmp(methods[i].signature, call->signature) != 0)
            answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS,
                         "Invalid arguments '%s' to call %s.%s(), expecting '%s'.", call->signature, MANAGER_INTERFACE,
                         call->member, methods[i].signature);
        else if (!methods[i].changes || may_change(client, call))
            methods[i].run(client, call);
        return;
    }
    answer_unknown(client, call, SYSTEMD_OWNER);
}

static void unit_call(struct client *client, struct message *call)
{
    struct unit *unit = unit_at(call->path);

    if (strcmp(call->member, "Stop") == 0 && is_interface(call, UNIT_INTERFACE)) {
        if (unit == NULL)
            answer_error(client, call, SYSTEMD_OWNER, ERROR_NO_SUCH_UNIT, "Unit not loaded.");
        else if (may_change(client, call) && mode_is_right(client, call, get_string(&call->body)))
            stop(client, call, unit);
    } else if (unit != NULL && strcmp(call->member, "Abandon") == 0 && is_interface(call, SCOPE_INTERFACE)) {
        if (may_change(client, call))
            abandon(client, call, unit);
    } else
        answer_unknown(client, call, SYSTEMD_OWNER);
}

void systemd_call(struct client *client, struct message *call)
{
    bool is_unit = strncmp(call->path, SYSTEMD_PATH "/unit/", strlen(SYSTEMD_PATH "/unit/")) == 0;

    if (is_interface(call, PEER_INTERFACE) && strcmp(call->member, "Ping") == 0)
        answer_nothing(client, call, SYSTEMD_OWNER);
    else if (is_interface(call, INTROSPECT_INTERFACE) && strcmp(call->member, "Introspect") == 0)
        answer_string(client, call, SYSTEMD_OWNER, "s", introspection(call->path));
    else if (!is_unit && strcmp(call->path, SYSTEMD_PATH) != 0)
        answer_error(client, call, SYSTEMD_OWNER, ERROR_UNKNOWN_OBJECT, "Unknown object '%s'.", call->path);
    else if (is_interface(call, PROPERTIES_INTERFACE) && properties_call(client, call))
        return;
    else if (is_unit)
        unit_call(client, call);
    else
        manager_call(client, call);
}
