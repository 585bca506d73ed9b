/* The properties with which a unit is started or changed (a(sv)): their names, their types, and the cgroup file that
 * each sets. */
#include "bus.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INFINITE UINT64_MAX
#define DEFAULT_STOP_US 90000000ULL
#define DEFAULT_PERIOD_US 100000ULL

const struct limit limits[LIMITS] = {
    {"MemoryMax", "memory.max", 't', INFINITE},
    {"MemoryHigh", "memory.high", 't', INFINITE},
    {"MemoryLow", "memory.low", 't', 0},
    {"MemoryMin", "memory.min", 't', 0},
    {"MemorySwapMax", "memory.swap.max", 't', INFINITE},
    {"MemoryLimit", "memory.max", 't', INFINITE},
    {"TasksMax", "pids.max", 't', INFINITE},
    {"CPUWeight", "cpu.weight", 't', INFINITE},
    {"CPUShares", "", 't', INFINITE},
    {"CPUQuotaPerSecUSec", "cpu.max", 'p', INFINITE},
    {"IOWeight", "io.weight", 't', INFINITE},
    {"BlockIOWeight", "", 't', INFINITE},
    {"AllowedCPUs", "cpuset.cpus", 'y', 0},
    {"AllowedMemoryNodes", "cpuset.mems", 'y', 0},
    {"StartupCPUWeight", "", 't', INFINITE},
    {"StartupIOWeight", "", 't', INFINITE},
};

/* Properties that this bus accepts, as systemd does, but that have no effect here. */
static const struct {
    const char *property;
    const char *signature;
} heard[] = {
    {"DefaultDependencies", "b"},
    {"MemoryAccounting", "b"},
    {"CPUAccounting", "b"},
    {"TasksAccounting", "b"},
    {"IOAccounting", "b"},
    {"BlockIOAccounting", "b"},
    {"IPAccounting", "b"},
    {"SendSIGHUP", "b"},
    {"SendSIGKILL", "b"},
    {"KillMode", "s"},
    {"KillSignal", "i"},
    {"CollectMode", "s"},
    {"DevicePolicy", "s"},
    {"DeviceAllow", "a(ss)"},
    {"After", "as"},
    {"Before", "as"},
    {"Requires", "as"},
    {"Wants", "as"},
    {"BindsTo", "as"},
    {"PartOf", "as"},
    {"Controller", "s"},
    {"RuntimeMaxUSec", "t"},
    {"DelegateControllers", "as"},
    {"ManagedOOMSwap", "s"},
    {"ManagedOOMMemoryPressure", "s"},
    {"OOMPolicy", "s"},
    {"AddRef", "b"},
    {"Documentation", "as"},
};

void settings_begin(struct settings *settings)
{
    memset(settings, 0, sizeof *settings);
    settings->stop_timeout_us = DEFAULT_STOP_US;
    settings->quota_period_us = DEFAULT_PERIOD_US;
    for (size_t i = 0; i < LIMITS; i++)
        settings->values[i] = limits[i].initial;
}

void settings_end(struct settings *settings)
{
    free(settings->pids);
    settings->pids = NULL;
}

static void read_pids(struct settings *settings, struct reader *body, const struct client *client)
{
    size_t end = get_array(body, 'u');

    settings->has_pids = true;
    settings->pids = realloc(settings->pids, (settings->pid_count + (end - body->at) / 4 + 1) * sizeof *settings->pids);
    if (settings->pids == NULL)
        fail("no memory for the processes of a unit");
    while (body->at < end && !body->is_bad) {
        uint32_t pid = get_u32(body);

        settings->pids[settings->pid_count++] = pid == 0 ? client->pid : (pid_t)pid;
    }
}

/* Read a mask of bits, the lowest byte first, and write it as a list of ranges. */
static void read_mask(char *text, struct reader *body)
{
    size_t begin = get_array(body, 'y') - 0;
    size_t from = body->at;
    size_t bits = 8 * (begin - from);
    size_t used = 0;

    text[0] = '\0';
    for (size_t bit = 0; bit < bits; bit++) {
        size_t first = bit;

        while (bit < bits && body->data[from + bit / 8] >> (bit % 8) & 1)
            bit++;
        if (bit > first && used < NAME_ROOM - 24)
            used += (size_t)snprintf(text + used, NAME_ROOM - used, first + 1 < bit ? "%s%zu-%zu" : "%s%zu",
                                     used == 0 ? "" : ",", first, bit - 1);
    }
    body->at = begin;
}

static bool read_limit(struct settings *settings, const char *name, const char *type, struct reader *body)
{
    for (size_t i = 0; i < LIMITS; i++) {
        if (strcmp(limits[i].property, name) != 0)
            continue;
        if (strcmp(type, limits[i].type == 'y' ? "ay" : "t") != 0)
            return false;
        if (limits[i].type == 'y')
            read_mask(settings->masks[i], body);
        else
            settings->values[i] = get_u64(body);
        settings->given |= 1U << i;
        return true;
    }
    return false;
}

static bool read_text(char *text, struct reader *body)
{
    return snprintf(text, NAME_ROOM, "%s", get_string(body)) < NAME_ROOM;
}

/* Read one property. Returns false if there is none with this name and type. */
static bool read_property(struct settings *settings, const char *name, const char *type, struct reader *body,
                          const struct client *client)
{
    if (strcmp(name, "PIDs") == 0 && strcmp(type, "au") == 0)
        return read_pids(settings, body, client), true;
    if (strcmp(name, "Slice") == 0 && strcmp(type, "s") == 0)
        return read_text(settings->slice, body);
    if (strcmp(name, "Description") == 0 && strcmp(type, "s") == 0)
        return read_text(settings->description, body);
    if (strcmp(name, "Delegate") == 0 && strcmp(type, "b") == 0)
        return settings->delegate = get_u32(body) != 0, true;
    if (strcmp(name, "TimeoutStopUSec") == 0 && strcmp(type, "t") == 0)
        return settings->stop_timeout_us = get_u64(body), true;
    if (strcmp(name, "CPUQuotaPeriodUSec") == 0 && strcmp(type, "t") == 0) {
        settings->quota_period_us = get_u64(body);
        if (settings->quota_period_us == INFINITE)
            settings->quota_period_us = DEFAULT_PERIOD_US;
        return true;
    }
    if (read_limit(settings, name, type, body))
        return true;
    for (size_t i = 0; i < sizeof heard / sizeof *heard; i++)
        if (strcmp(heard[i].property, name) == 0 && strcmp(heard[i].signature, type) == 0) {
            const char *left = type;

            if (strcmp(name, "DelegateControllers") == 0)
                settings->delegate = true;
            skip_value(body, &left);
            return true;
        }
    return false;
}

static bool slice_is_right(const struct settings *settings)
{
    return settings->slice[0] == '\0' || (name_is_valid(settings->slice) && name_is(settings->slice, ".slice"));
}

bool settings_read(struct settings *settings, struct client *client, struct message *call, bool is_new)
{
    struct reader *body = &call->body;
    size_t end = get_array(body, '(');

    while (body->at < end && !body->is_bad) {
        const char *name;
        const char *type;

        reader_align(body, 8);
        name = get_string(body);
        type = get_signature(body);
        if (body->is_bad)
            break;
        if (!read_property(settings, name, type, body, client) || (!is_new && (settings->has_pids || settings->slice[0]))) {
            answer_error(client, call, SYSTEMD_OWNER, "org.freedesktop.DBus.Error.PropertyReadOnly",
                         "Cannot set property %s, or unknown property.", name);
            return false;
        }
        if (!slice_is_right(settings)) {
            answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Invalid unit name '%s'", settings->slice);
            return false;
        }
    }
    if (body->is_bad)
        answer_error(client, call, SYSTEMD_OWNER, ERROR_INVALID_ARGS, "Invalid arguments");
    return !body->is_bad;
}

static void limit_text(const struct settings *settings, size_t which, char *text, size_t room)
{
    uint64_t value = settings->values[which];

    if (limits[which].type == 'y')
        snprintf(text, room, "%s", settings->masks[which]);
    else if (limits[which].type == 'p' && value == INFINITE)
        snprintf(text, room, "max %llu", (unsigned long long)settings->quota_period_us);
    else if (limits[which].type == 'p')
        snprintf(text, room, "%llu %llu", (unsigned long long)(value * settings->quota_period_us / 1000000),
                 (unsigned long long)settings->quota_period_us);
    else if (value == INFINITE)
        snprintf(text, room, "%s", strstr(limits[which].file, "weight") != NULL ? "100" : "max");
    else
        snprintf(text, room, "%llu", (unsigned long long)value);
}

int settings_apply(const struct settings *settings, const char *group, uint32_t which)
{
    int first = 0;

    for (size_t i = 0; i < LIMITS; i++) {
        char text[NAME_ROOM];
        int error;

        if ((which >> i & 1) == 0 || limits[i].file[0] == '\0')
            continue;
        limit_text(settings, i, text, sizeof text);
        error = cgroup_write(group, limits[i].file, text);
        first = first == 0 ? error : first;
    }
    return first;
}
