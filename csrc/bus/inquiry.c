/* Questions to systemd's manager about units: which exist, and to which unit a process belongs. Every user may ask. */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Return the unit with this name. If there is none, answer the call with an error, whose text has a place for the name,
 * and return NULL. */
struct unit *unit_known(struct client *client, struct message *call, const char *name, const char *format)
{
    struct unit *unit = unit_named(name);
    char text[2 * NAME_ROOM];

    if (unit == NULL) {
        snprintf(text, sizeof text, format, name);
        answer_error(client, call, SYSTEMD_OWNER, ERROR_NO_SUCH_UNIT, "%s", text);
    }
    return unit;
}

static void answer_unit(struct client *client, struct message *call, const struct unit *unit)
{
    char path[4 * NAME_ROOM];

    object_path(unit->name, path, sizeof path);
    answer_string(client, call, SYSTEMD_OWNER, "o", path);
}

void unit_get(struct client *client, struct message *call)
{
    struct unit *unit = unit_known(client, call, get_string(&call->body), "Unit %s not loaded.");

    if (unit != NULL)
        answer_unit(client, call, unit);
}

/* systemd also has an object for a unit that does not exist; the object's properties say that the unit does not exist. */
void unit_load(struct client *client, struct message *call)
{
    const char *name = get_string(&call->body);
    char path[4 * NAME_ROOM];

    if (!name_is_valid(name)) {
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Unit name %s is not valid.", name);
        return;
    }
    object_path(name, path, sizeof path);
    answer_string(client, call, SYSTEMD_OWNER, "o", path);
}

void unit_get_by_pid(struct client *client, struct message *call)
{
    uint32_t pid = get_u32(&call->body);
    char group[PATH_ROOM];
    struct unit *unit = NULL;

    if (cgroup_of(pid == 0 ? client->pid : (pid_t)pid, group, sizeof group))
        unit = unit_of_group(group);
    if (unit != NULL && unit->group[0] != '\0')
        answer_unit(client, call, unit);
    else
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.systemd1.NoUnitForPID",
                     "PID %u does not belong to any loaded unit.", pid);
}

static void put_unit(struct writer *body, const struct unit *unit)
{
    char path[4 * NAME_ROOM];

    object_path(unit->name, path, sizeof path);
    put_align(body, 8);
    put_string(body, unit->name);
    put_string(body, unit->settings.description);
    put_string(body, "loaded");
    put_string(body, state_name(unit));
    put_string(body, substate_name(unit));
    put_string(body, "");
    put_string(body, path);
    put_u32(body, 0);
    put_string(body, "");
    put_string(body, "/");
}

void units_list(struct client *client, struct message *call)
{
    struct writer body = {0};
    size_t begin = put_array_begin(&body, '(');

    for (struct unit *unit = units; unit != NULL; unit = unit->next)
        if (unit->state != UNIT_DEAD)
            put_unit(&body, unit);
    put_array_end(&body, begin, '(');
    answer(client, call, SYSTEMD_OWNER, "a(ssssssouso)", &body);
    free(body.data);
}
