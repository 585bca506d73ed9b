/* The properties of systemd's manager and its units (org.freedesktop.DBus.Properties). */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A property. `put` writes its value for a unit; NULL stands for the manager. */
struct property {
    const char *interface;
    const char *name;
    const char *signature;
    void (*put)(struct writer *body, const struct unit *unit, const struct property *property);
    const char *text; /* an argument for `put` */
    uint64_t number;
};

static void put_text(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)unit;
    put_string(body, property->text);
}

static void put_number(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)unit;
    if (property->signature[0] == 't')
        put_u64(body, property->number);
    else
        put_u32(body, (uint32_t)property->number);
}

static void put_no_texts(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)unit;
    (void)property;
    put_array_end(body, put_array_begin(body, 's'), 's');
}

static void put_name(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, unit->name);
}

static void put_names(struct writer *body, const struct unit *unit, const struct property *property)
{
    size_t begin = put_array_begin(body, 's');

    put_name(body, unit, property);
    put_array_end(body, begin, 's');
}

static void put_description(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, unit->settings.description[0] ? unit->settings.description : unit->name);
}

static void put_load(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, unit->state == UNIT_DEAD ? "not-found" : "loaded");
}

static void put_state(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, state_name(unit));
}

static void put_substate(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, substate_name(unit));
}

static void put_group(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, unit->group);
}

static void put_slice(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_string(body, unit->settings.slice);
}

static void put_since(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_u64(body, unit->since_us);
}

static void put_job(struct writer *body, const struct unit *unit, const struct property *property)
{
    const char *job = unit->stopper[0] != '\0' ? unit->stopper : "/";

    (void)property;
    put_align(body, 8);
    put_u32(body, (uint32_t)strtoul(strrchr(job, '/') + 1, NULL, 10));
    put_string(body, job);
}

static void put_invocation(struct writer *body, const struct unit *unit, const struct property *property)
{
    size_t begin = put_array_begin(body, 'y');

    (void)property;
    for (size_t i = 0; unit->invocation[i] != '\0'; i += 2) {
        char digits[3] = {unit->invocation[i], unit->invocation[i + 1], '\0'};

        put_byte(body, (uint8_t)strtoul(digits, NULL, 16));
    }
    put_array_end(body, begin, 'y');
}

static void put_delegate(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_u32(body, unit->settings.delegate);
}

static void put_patience(struct writer *body, const struct unit *unit, const struct property *property)
{
    (void)property;
    put_u64(body, unit->settings.stop_timeout_us);
}

/* Write a number that the unit's cgroup counts: of bytes of memory, or of processes. */
static void put_counted(struct writer *body, const struct unit *unit, const struct property *property)
{
    char text[NAME_ROOM] = "";

    put_u64(body, cgroup_read(unit->group, property->text, text, sizeof text) && text[0] != '\0' ? strtoull(text, NULL, 10)
                                                                                                 : UINT64_MAX);
}

static const struct property properties[] = {
    {MANAGER_INTERFACE, "Version", "s", put_text, SYSTEMD_VERSION, 0},
    {MANAGER_INTERFACE, "Features", "s", put_text, "", 0},
    {MANAGER_INTERFACE, "Virtualization", "s", put_text, "", 0},
    {MANAGER_INTERFACE, "Architecture", "s", put_text, "x86-64", 0},
    {MANAGER_INTERFACE, "Tainted", "s", put_text, "", 0},
    {MANAGER_INTERFACE, "ControlGroup", "s", put_text, "", 0},
    {MANAGER_INTERFACE, "SystemState", "s", put_text, "running", 0},
    {MANAGER_INTERFACE, "NFailedUnits", "u", put_number, NULL, 0},
    {MANAGER_INTERFACE, "NJobs", "u", put_number, NULL, 0},
    {MANAGER_INTERFACE, "Environment", "as", put_no_texts, NULL, 0},
    {MANAGER_INTERFACE, "UnitPath", "as", put_no_texts, NULL, 0},
    {MANAGER_INTERFACE, "DefaultTasksMax", "t", put_number, NULL, UINT64_MAX},
    {MANAGER_INTERFACE, "DefaultTimeoutStopUSec", "t", put_number, NULL, 90000000},
    {UNIT_INTERFACE, "Id", "s", put_name, NULL, 0},
    {UNIT_INTERFACE, "Names", "as", put_names, NULL, 0},
    {UNIT_INTERFACE, "Following", "s", put_text, "", 0},
    {UNIT_INTERFACE, "Description", "s", put_description, NULL, 0},
    {UNIT_INTERFACE, "LoadState", "s", put_load, NULL, 0},
    {UNIT_INTERFACE, "ActiveState", "s", put_state, NULL, 0},
    {UNIT_INTERFACE, "SubState", "s", put_substate, NULL, 0},
    {UNIT_INTERFACE, "FragmentPath", "s", put_text, "", 0},
    {UNIT_INTERFACE, "UnitFileState", "s", put_text, "transient", 0},
    {UNIT_INTERFACE, "ActiveEnterTimestamp", "t", put_since, NULL, 0},
    {UNIT_INTERFACE, "StateChangeTimestamp", "t", put_since, NULL, 0},
    {UNIT_INTERFACE, "Transient", "b", put_number, NULL, 1},
    {UNIT_INTERFACE, "NeedDaemonReload", "b", put_number, NULL, 0},
    {UNIT_INTERFACE, "Job", "(uo)", put_job, NULL, 0},
    {UNIT_INTERFACE, "InvocationID", "ay", put_invocation, NULL, 0},
    {SCOPE_INTERFACE, "ControlGroup", "s", put_group, NULL, 0},
    {SCOPE_INTERFACE, "Slice", "s", put_slice, NULL, 0},
    {SCOPE_INTERFACE, "Delegate", "b", put_delegate, NULL, 0},
    {SCOPE_INTERFACE, "Controller", "s", put_text, "", 0},
    {SCOPE_INTERFACE, "Result", "s", put_text, "success", 0},
    {SCOPE_INTERFACE, "TimeoutStopUSec", "t", put_patience, NULL, 0},
    {SCOPE_INTERFACE, "MemoryCurrent", "t", put_counted, "memory.current", 0},
    {SCOPE_INTERFACE, "TasksCurrent", "t", put_counted, "pids.current", 0},
};

/* Return whether a property belongs to an interface, for a unit of this type. Scopes and slices have equal properties
 * about their cgroups. */
static bool is_of(const struct property *property, const struct unit *unit, const char *interface)
{
    const char *own = property->interface;

    if ((unit == NULL) != (strcmp(own, MANAGER_INTERFACE) == 0))
        return false;
    if (unit != NULL && unit->is_slice && strcmp(own, SCOPE_INTERFACE) == 0)
        own = SLICE_INTERFACE;
    return interface[0] == '\0' || strcmp(own, interface) == 0;
}

static bool shows_limits(const struct unit *unit, const char *interface)
{
    const char *own = unit != NULL && unit->is_slice ? SLICE_INTERFACE : SCOPE_INTERFACE;

    return unit != NULL && (interface[0] == '\0' || strcmp(own, interface) == 0);
}

static void put_mask(struct writer *body, const char *ranges)
{
    uint8_t bytes[128] = {0};
    size_t size = 0;
    size_t begin = put_array_begin(body, 'y');

    while (*ranges != '\0') {
        char *end;
        unsigned long first = strtoul(ranges, &end, 10);
        unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        for (unsigned long bit = first; bit <= last && bit < 8 * sizeof bytes; bit++) {
            bytes[bit / 8] |= (uint8_t)(1 << bit % 8);
            size = bit / 8 + 1;
        }
        ranges = *end == ',' ? end + 1 : "";
    }
    put_bytes(body, bytes, size);
    put_array_end(body, begin, 'y');
}

static void put_limit(struct writer *body, const struct unit *unit, size_t which)
{
    put_signature(body, limits[which].type == 'y' ? "ay" : "t");
    if (limits[which].type == 'y')
        put_mask(body, unit->settings.masks[which]);
    else
        put_u64(body, unit->settings.values[which]);
}

static void put_property(struct writer *body, const struct unit *unit, const struct property *property)
{
    put_signature(body, property->signature);
    property->put(body, unit, property);
}

static void get(struct client *client, struct message *call, const struct unit *unit)
{
    const char *interface = get_string(&call->body);
    const char *name = get_string(&call->body);
    struct writer body = {0};

    for (size_t i = 0; i < sizeof properties / sizeof *properties && body.size == 0; i++)
        if (strcmp(properties[i].name, name) == 0 && is_of(&properties[i], unit, interface))
            put_property(&body, unit, &properties[i]);
    for (size_t i = 0; i < LIMITS && body.size == 0; i++)
        if (strcmp(limits[i].property, name) == 0 && shows_limits(unit, interface))
            put_limit(&body, unit, i);
    if (body.size > 0)
        answer(client, call, SYSTEMD_OWNER, "v", &body);
    else
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.UnknownProperty",
                     "Unknown interface %s or property %s.", interface, name);
    free(body.data);
}

static void get_all(struct client *client, struct message *call, const struct unit *unit)
{
    const char *interface = get_string(&call->body);
    struct writer body = {0};
    size_t begin = put_array_begin(&body, '{');

    for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
        if (is_of(&properties[i], unit, interface)) {
            put_align(&body, 8);
            put_string(&body, properties[i].name);
            put_property(&body, unit, &properties[i]);
        }
    for (size_t i = 0; i < LIMITS && shows_limits(unit, interface); i++) {
        put_align(&body, 8);
        put_string(&body, limits[i].property);
        put_limit(&body, unit, i);
    }
    put_array_end(&body, begin, '{');
    answer(client, call, SYSTEMD_OWNER, "a{sv}", &body);
    free(body.data);
}

/* Return the unit that a path names. systemd also has objects for units that do not exist; their properties say so. */
static const struct unit *unit_of_path(const char *path)
{
    static struct unit absent;
    const struct unit *unit = unit_at(path);
    const char *label = path + strlen(SYSTEMD_PATH "/unit/");
    size_t used = 0;

    if (unit != NULL)
        return unit;
    absent = (struct unit){.state = UNIT_DEAD};
    settings_begin(&absent.settings);
    for (; *label != '\0' && used + 1 < NAME_ROOM; label++) {
        char digits[3] = {label[0] == '_' ? label[1] : '\0', label[0] == '_' ? label[2] : '\0', '\0'};

        absent.name[used++] = digits[0] != '\0' ? (char)strtoul(digits, NULL, 16) : *label;
        if (digits[0] != '\0' && digits[1] != '\0')
            label += 2;
    }
    absent.is_slice = name_is(absent.name, ".slice");
    return &absent;
}

bool properties_call(struct client *client, struct message *call)
{
    bool is_manager = strcmp(call->path, SYSTEMD_PATH) == 0;
    const struct unit *unit = is_manager ? NULL : unit_of_path(call->path);

    if (strcmp(call->member, "Get") == 0 && strcmp(call->signature, "ss") == 0)
        get(client, call, unit);
    else if (strcmp(call->member, "GetAll") == 0 && strcmp(call->signature, "s") == 0)
        get_all(client, call, unit);
    else if (strcmp(call->member, "Set") == 0 && strcmp(call->signature, "ssv") == 0)
        answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.PropertyReadOnly",
                     "Property '%s' is not writable.", (get_string(&call->body), get_string(&call->body)));
    else
        return false;
    return true;
}
