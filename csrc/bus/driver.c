/* Calls that the message bus itself answers (org.freedesktop.DBus): names, rules, credentials. As on a Debian without
 * further configuration no client may own a name, so names are those of the bus, of systemd and of the clients. */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ERROR_NO_OWNER "org.freedesktop.DBus.Error.NameHasNoOwner"

static void hello(struct client *client, struct message *call)
{
    struct signal_head head = {BUS_NAME, BUS_PATH, BUS_NAME, "NameAcquired", "s"};
    struct writer body = {0};

    if (client->has_name) {
        answer_error(client, call, BUS_NAME, "org.freedesktop.DBus.Error.Failed", "Already handled an Hello message");
        return;
    }
    client->has_name = true;
    answer_string(client, call, BUS_NAME, "s", client->name);
    driver_said_hello(client);
    put_string(&body, client->name);
    send_signal(client, &head, &body);
    free(body.data);
}

static void tell_owner(const char *name, const char *before, const char *now)
{
    struct signal_head head = {BUS_NAME, BUS_PATH, BUS_NAME, "NameOwnerChanged", "sss"};
    struct writer body = {0};

    put_string(&body, name);
    put_string(&body, before);
    put_string(&body, now);
    broadcast(&head, &body);
    free(body.data);
}

void driver_said_hello(struct client *client)
{
    tell_owner(client->name, "", client->name);
}

void driver_lost(struct client *client)
{
    tell_owner(client->name, client->name, "");
}

static const char *owner_of(const char *name)
{
    const struct client *client = client_named(name);

    if (strcmp(name, BUS_NAME) == 0)
        return BUS_NAME;
    if (strcmp(name, SYSTEMD_NAME) == 0 || strcmp(name, SYSTEMD_OWNER) == 0)
        return SYSTEMD_OWNER;
    return client == NULL ? NULL : client->name;
}

static void get_name_owner(struct client *client, struct message *call)
{
    const char *name = get_string(&call->body);
    const char *owner = owner_of(name);

    if (owner == NULL)
        answer_error(client, call, BUS_NAME, ERROR_NO_OWNER, "Could not get owner of name '%s': no such name", name);
    else
        answer_string(client, call, BUS_NAME, "s", owner);
}

static void name_has_owner(struct client *client, struct message *call)
{
    answer_u32(client, call, BUS_NAME, "b", owner_of(get_string(&call->body)) != NULL);
}

static void add_match(struct client *client, struct message *call)
{
    const char *wrong = rule_add(client, get_string(&call->body));

    if (wrong != NULL)
        answer_error(client, call, BUS_NAME, "org.freedesktop.DBus.Error.MatchRuleInvalid", "%s", wrong);
    else
        answer_nothing(client, call, BUS_NAME);
}

static void remove_match(struct client *client, struct message *call)
{
    if (rule_remove(client, get_string(&call->body)))
        answer_nothing(client, call, BUS_NAME);
    else
        answer_error(client, call, BUS_NAME, "org.freedesktop.DBus.Error.MatchRuleNotFound",
                     "The given match rule wasn't found and can't be removed");
}

static void request_name(struct client *client, struct message *call)
{
    const char *name = get_string(&call->body);

    if (strchr(name, '.') == NULL || name[0] == ':')
        answer_error(client, call, BUS_NAME, ERROR_INVALID_ARGS, "Requested bus name \"%s\" is not valid", name);
    else
        answer_error(client, call, BUS_NAME, ERROR_ACCESS_DENIED,
                     "Connection \"%s\" is not allowed to own the service \"%s\" due to security policies in the configuration "
                     "file",
                     client->name, name);
}

static void release_name(struct client *client, struct message *call)
{
    enum { IS_NOT_THERE = 2, IS_NOT_YOURS = 3 };

    answer_u32(client, call, BUS_NAME, "u", owner_of(get_string(&call->body)) == NULL ? IS_NOT_THERE : IS_NOT_YOURS);
}

static void list_names(struct client *client, struct message *call)
{
    bool is_activatable = strcmp(call->member, "ListActivatableNames") == 0;
    struct writer body = {0};
    size_t begin = put_array_begin(&body, 's');

    put_string(&body, BUS_NAME);
    put_string(&body, SYSTEMD_NAME);
    if (!is_activatable) {
        put_string(&body, SYSTEMD_OWNER);
        for (struct client *other = clients; other != NULL; other = other->next)
            if (other->has_name && !other->is_gone)
                put_string(&body, other->name);
    }
    put_array_end(&body, begin, 's');
    answer(client, call, BUS_NAME, "as", &body);
    free(body.data);
}

static void start_service(struct client *client, struct message *call)
{
    enum { RUNS_ALREADY = 2 };
    const char *name = get_string(&call->body);

    if (owner_of(name) != NULL && strcmp(name, BUS_NAME) != 0)
        answer_u32(client, call, BUS_NAME, "u", RUNS_ALREADY);
    else
        answer_error(client, call, BUS_NAME, "org.freedesktop.DBus.Error.ServiceUnknown",
                     "The name %s was not provided by any .service files", name);
}

/* The credentials of a client, of systemd, or of the bus. This process is both systemd and the bus. */
struct who {
    bool is_known;
    uid_t user;
    pid_t pid;
};

static struct who who_is(struct client *client, struct message *call, const char *what)
{
    const char *name = get_string(&call->body);
    const struct client *other = client_named(name);

    if (other != NULL)
        return (struct who){true, other->user, other->pid};
    if (owner_of(name) != NULL)
        return (struct who){true, getuid(), strcmp(name, BUS_NAME) == 0 ? getpid() : 1};
    answer_error(client, call, BUS_NAME, ERROR_NO_OWNER, "Could not get %s of name '%s': no such name", what, name);
    return (struct who){0};
}

static void get_user(struct client *client, struct message *call)
{
    struct who who = who_is(client, call, "UID");

    if (who.is_known)
        answer_u32(client, call, BUS_NAME, "u", who.user);
}

static void get_process(struct client *client, struct message *call)
{
    struct who who = who_is(client, call, "PID");

    if (who.is_known)
        answer_u32(client, call, BUS_NAME, "u", (uint32_t)who.pid);
}

static void put_credential(struct writer *body, const char *key, uint32_t value)
{
    put_align(body, 8);
    put_string(body, key);
    put_signature(body, "u");
    put_u32(body, value);
}

static void get_credentials(struct client *client, struct message *call)
{
    struct who who = who_is(client, call, "credentials");
    struct writer body = {0};
    size_t begin;

    if (!who.is_known)
        return;
    begin = put_array_begin(&body, '{');
    put_credential(&body, "UnixUserID", who.user);
    put_credential(&body, "ProcessID", (uint32_t)who.pid);
    put_array_end(&body, begin, '{');
    answer(client, call, BUS_NAME, "a{sv}", &body);
    free(body.data);
}

static void get_id(struct client *client, struct message *call)
{
    answer_string(client, call, BUS_NAME, "s", bus_guid());
}

static void introspect(struct client *client, struct message *call)
{
    answer_string(client, call, BUS_NAME, "s", introspection(BUS_PATH));
}

static void ping(struct client *client, struct message *call)
{
    answer_nothing(client, call, BUS_NAME);
}

static const struct {
    const char *interface;
    const char *member;
    const char *signature;
    void (*run)(struct client *client, struct message *call);
} methods[] = {
    {BUS_NAME, "Hello", "", hello},
    {BUS_NAME, "GetNameOwner", "s", get_name_owner},
    {BUS_NAME, "NameHasOwner", "s", name_has_owner},
    {BUS_NAME, "AddMatch", "s", add_match},
    {BUS_NAME, "RemoveMatch", "s", remove_match},
    {BUS_NAME, "RequestName", "su", request_name},
    {BUS_NAME, "ReleaseName", "s", release_name},
    {BUS_NAME, "ListNames", "", list_names},
    {BUS_NAME, "ListActivatableNames", "", list_names},
    {BUS_NAME, "StartServiceByName", "su", start_service},
    {BUS_NAME, "GetConnectionUnixUser", "s", get_user},
    {BUS_NAME, "GetConnectionUnixProcessID", "s", get_process},
    {BUS_NAME, "GetConnectionCredentials", "s", get_credentials},
    {BUS_NAME, "GetId", "", get_id},
    {INTROSPECT_INTERFACE, "Introspect", "", introspect},
    {PEER_INTERFACE, "Ping", "", ping},
};

void driver_call(struct client *client, struct message *call)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (strcmp(methods[i].member, call->member) != 0 ||
            (call->interface != NULL && strcmp(methods[i].interface, call->interface) != 0))
            continue;
        if (strcmp(methods[i].signature, call->signature) == 0)
            methods[i].run(client, call);
        else
            answer_error(client, call, BUS_NAME, ERROR_INVALID_ARGS, "Call to %s has wrong args (%s, expected %s)",
                         call->member, call->signature, methods[i].signature);
        return;
    }
    answer_error(client, call, BUS_NAME, ERROR_UNKNOWN_METHOD, "%s does not understand message %s", BUS_NAME, call->member);
}
