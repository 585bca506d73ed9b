/* The authentication before the first message: lines of text, in which a client names its user. The kernel knows the
 * user of the client (SO_PEERCRED), so EXTERNAL is the only method, as with dbus-daemon for the system bus. */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define LINE_MAX 4096

enum stage { WAITS_FOR_ZERO, WAITS_FOR_AUTH, WAITS_FOR_DATA, WAITS_FOR_BEGIN };

/* Return the identifier of the bus, which differs each time the bus is started. */
const char *bus_guid(void)
{
    static char text[33];
    unsigned char bytes[16] = {0};

    if (text[0] == '\0') {
        if (getrandom(bytes, sizeof bytes, 0) < 0)
            fail("no random bytes: %m");
        for (size_t i = 0; i < sizeof bytes; i++)
            snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    }
    return text;
}

static void say(struct client *client, const char *line)
{
    put_bytes(&client->out, line, strlen(line));
    put_bytes(&client->out, "\r\n", 2);
}

static bool accept_user(struct client *client)
{
    char line[48];

    snprintf(line, sizeof line, "OK %s", bus_guid());
    say(client, line);
    client->auth = WAITS_FOR_BEGIN;
    return true;
}

static bool reject(struct client *client)
{
    say(client, "REJECTED EXTERNAL");
    client->auth = WAITS_FOR_AUTH;
    return true;
}

/* Return whether a text is the number of the client's user, in decimal, each digit as the two hexadecimal digits of its
 * character. An empty text means the caller. */
static bool is_own_number(const struct client *client, const char *hex)
{
    char expected[32];
    char wanted[64] = "";

    if (hex[0] == '\0')
        return true;
    snprintf(expected, sizeof expected, "%u", (unsigned)client->user);
    for (size_t i = 0; expected[i] != '\0'; i++)
        snprintf(wanted + 2 * i, 3, "%02x", (unsigned char)expected[i]);
    return strcmp(wanted, hex) == 0;
}

static bool take_auth(struct client *client, const char *words)
{
    if (strncmp(words, "EXTERNAL", 8) != 0 || (words[8] != '\0' && words[8] != ' '))
        return reject(client);
    if (words[8] == ' ')
        return is_own_number(client, words + 9) ? accept_user(client) : reject(client);
    say(client, "DATA");
    client->auth = WAITS_FOR_DATA;
    return true;
}

static bool take_line(struct client *client, const char *line)
{
    if (strcmp(line, "BEGIN") == 0) {
        client->has_begun = client->auth == WAITS_FOR_BEGIN;
        return client->has_begun;
    }
    if (client->auth == WAITS_FOR_AUTH && strncmp(line, "AUTH", 4) == 0)
        return line[4] == ' ' ? take_auth(client, line + 5) : reject(client);
    if (client->auth == WAITS_FOR_DATA && strncmp(line, "DATA", 4) == 0)
        return is_own_number(client, line[4] == ' ' ? line + 5 : "") ? accept_user(client) : reject(client);
    if (client->auth == WAITS_FOR_BEGIN && strcmp(line, "NEGOTIATE_UNIX_FD") == 0)
        say(client, "AGREE_UNIX_FD"); /* read(2) drops descriptors that come with bytes: no call that this bus answers
                                       * has a descriptor */
    else if (strcmp(line, "CANCEL") == 0 || strncmp(line, "ERROR", 5) == 0)
        return client->auth != WAITS_FOR_AUTH && reject(client);
    else
        say(client, "ERROR \"Unknown command\"");
    return true;
}

static void drop(struct writer *in, size_t size)
{
    memmove(in->data, in->data + size, in->size - size);
    in->size -= size;
}

bool auth_turn(struct client *client)
{
    struct writer *in = &client->in;
    char *end;

    if (client->auth == WAITS_FOR_ZERO && in->size > 0) {
        if (in->data[0] != '\0')
            return false;
        drop(in, 1);
        client->auth = WAITS_FOR_AUTH;
    }
    while (!client->has_begun && in->size > 0 && (end = memmem(in->data, in->size, "\r\n", 2)) != NULL) {
        *end = '\0';
        if (!take_line(client, (char *)in->data))
            return false;
        drop(in, (size_t)(end - (char *)in->data) + 2);
    }
    return client->has_begun || in->size <= LINE_MAX;
}
