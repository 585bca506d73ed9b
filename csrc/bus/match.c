/* Decides which signals a client gets: by rules such as type='signal',member='JobRemoved', as D-Bus specifies them. */
#include "bus.h"

#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 32
#define ARGUMENTS_MAX 64

struct condition {
    char *key;
    char *value;
};

struct rule {
    struct rule *next;
    size_t count;
    struct condition conditions[KEYS_MAX];
    char text[]; /* the keys and values point into this text */
};

static const char *const keys[] = {"type", "sender",         "interface",   "member",
                                   "path", "path_namespace", "destination", "arg0namespace"};

static bool key_is_known(const char *key)
{
    char *end;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    if (strcmp(key, "eavesdrop") == 0)
        return true;
    if (strncmp(key, "arg", 3) != 0 || key[3] < '0' || key[3] > '9')
        return false;
    return strtoul(key + 3, &end, 10) < ARGUMENTS_MAX && (*end == '\0' || strcmp(end, "path") == 0);
}

/* Take a value out of its quotes, in place; outside of quotes \' stands for a quote. Returns the text after the value;
 * NULL if the closing quote is missing. */
static char *take_value(char *from)
{
    char *to = from;
    bool is_quoted = false;

    for (; *from != '\0' && (is_quoted || *from != ','); from++) {
        if (*from == '\'')
            is_quoted = !is_quoted;
        else if (!is_quoted && from[0] == '\\' && from[1] == '\'')
            *to++ = *++from;
        else
            *to++ = *from;
    }
    if (is_quoted)
        return NULL;
    from += *from == ',';
    *to = '\0';
    return from;
}

static const char *read_rule(struct rule *rule)
{
    char *at = rule->text;

    while (*at != '\0') {
        struct condition *condition = &rule->conditions[rule->count];
        char *equals;

        at += strspn(at, " \t\n\r");
        if (*at == '\0')
            break;
        equals = strchr(at, '=');
        if (equals == NULL || equals == at)
            return "Match rule has a key with no subsequent '=' character";
        *equals = '\0';
        condition->key = at;
        condition->value = equals + 1;
        at = take_value(equals + 1);
        if (at == NULL)
            return "Unbalanced quotation marks in match rule";
        if (!key_is_known(condition->key))
            return "Unknown key in match rule";
        if (++rule->count == KEYS_MAX)
            return "Match rule has too many keys";
    }
    return NULL;
}

static struct rule *rule_of(const char *text, const char **wrong)
{
    struct rule *rule = allocate(sizeof *rule + strlen(text) + 1);

    strcpy(rule->text, text);
    *wrong = read_rule(rule);
    if (*wrong == NULL)
        return rule;
    free(rule);
    return NULL;
}

const char *rule_add(struct client *client, const char *text)
{
    const char *wrong;
    struct rule *rule = rule_of(text, &wrong);

    if (rule != NULL) {
        rule->next = client->rules;
        client->rules = rule;
    }
    return wrong;
}

static bool is_equal(const struct rule *one, const struct rule *other)
{
    if (one->count != other->count)
        return false;
    for (size_t i = 0; i < one->count; i++)
        if (strcmp(one->conditions[i].key, other->conditions[i].key) != 0 ||
            strcmp(one->conditions[i].value, other->conditions[i].value) != 0)
            return false;
    return true;
}

/* Of the client's rules with this meaning, delete the one that was added last. */
bool rule_remove(struct client *client, const char *text)
{
    const char *wrong;
    struct rule *wanted = rule_of(text, &wrong);
    bool is_found = false;

    for (struct rule **place = &client->rules; wanted != NULL && *place != NULL && !is_found; place = &(*place)->next)
        if (is_equal(*place, wanted)) {
            struct rule *found = *place;

            *place = found->next;
            free(found);
            is_found = true;
            break;
        }
    free(wanted);
    return is_found;
}

void rules_free(struct client *client)
{
    while (client->rules != NULL) {
        struct rule *rule = client->rules;

        client->rules = rule->next;
        free(rule);
    }
}

static bool is_below(const char *path, const char *folder, char separator)
{
    size_t length = strlen(folder);

    if (strcmp(folder, "/") == 0)
        return true;
    return strncmp(path, folder, length) == 0 && (path[length] == '\0' || path[length] == separator);
}

/* Return an argument of a signal if it is a text, else NULL. */
static const char *argument(const struct signal_head *head, const struct writer *body, size_t number)
{
    struct reader reader = {.data = body == NULL ? NULL : body->data, .size = body == NULL ? 0 : body->size};
    const char *signature = head->signature;

    while (*signature != '\0' && number-- > 0)
        skip_value(&reader, &signature);
    return *signature == 's' || *signature == 'o' ? get_string(&reader) : NULL;
}

static bool fits_argument(const struct condition *condition, const struct signal_head *head, const struct writer *body)
{
    char *kind;
    const char *text = argument(head, body, strtoul(condition->key + 3, &kind, 10));
    size_t lengths[2];

    if (text == NULL)
        return false;
    if (strcmp(kind, "namespace") == 0)
        return is_below(text, condition->value, '.');
    if (strcmp(text, condition->value) == 0)
        return true;
    lengths[0] = strlen(text);
    lengths[1] = strlen(condition->value);
    if (strcmp(kind, "path") != 0)
        return false;
    return (lengths[0] > 0 && text[lengths[0] - 1] == '/' && strncmp(condition->value, text, lengths[0]) == 0) ||
           (lengths[1] > 0 && condition->value[lengths[1] - 1] == '/' && strncmp(text, condition->value, lengths[1]) == 0);
}

static bool is_sender(const char *wanted, const char *sender)
{
    return strcmp(wanted, sender) == 0 || (strcmp(wanted, SYSTEMD_NAME) == 0 && strcmp(sender, SYSTEMD_OWNER) == 0);
}

static bool fits(const struct condition *condition, const struct signal_head *head, const struct writer *body)
{
    const char *key = condition->key;
    const char *value = condition->value;

    if (strncmp(key, "arg", 3) == 0)
        return fits_argument(condition, head, body);
    if (strcmp(key, "type") == 0)
        return strcmp(value, "signal") == 0;
    if (strcmp(key, "sender") == 0)
        return is_sender(value, head->sender);
    if (strcmp(key, "interface") == 0)
        return strcmp(value, head->interface) == 0;
    if (strcmp(key, "member") == 0)
        return strcmp(value, head->member) == 0;
    if (strcmp(key, "path") == 0)
        return strcmp(value, head->path) == 0;
    if (strcmp(key, "path_namespace") == 0)
        return is_below(head->path, value, '/');
    return strcmp(key, "eavesdrop") == 0; /* a message to all clients has no destination */
}

bool client_wants(const struct client *client, const struct signal_head *head, const struct writer *body)
{
    for (const struct rule *rule = client->rules; rule != NULL; rule = rule->next) {
        size_t i = 0;

        while (i < rule->count && fits(&rule->conditions[i], head, body))
            i++;
        if (i == rule->count)
            return true;
    }
    return false;
}
