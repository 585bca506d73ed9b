/* Messages: a head with numbered fields, then the body. This file makes the messages that the bus sends. A reply that
 * the caller does not want is not sent. */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIXED_SIZE 16
#define NO_REPLY_EXPECTED 1

enum field {
    FIELD_PATH = 1,
    FIELD_INTERFACE,
    FIELD_MEMBER,
    FIELD_ERROR,
    FIELD_REPLY,
    FIELD_DESTINATION,
    FIELD_SENDER,
    FIELD_SIGNATURE
};

static struct reader reader_of(const uint8_t *bytes, size_t size)
{
    return (struct reader){.data = bytes, .size = size, .is_big = bytes[0] == 'B'};
}

size_t message_size(const uint8_t *bytes, size_t size)
{
    struct reader reader;
    uint64_t body;
    uint64_t fields;

    if (size < FIXED_SIZE)
        return 0;
    if ((bytes[0] != 'l' && bytes[0] != 'B') || bytes[3] != 1)
        return SIZE_MAX;
    reader = reader_of(bytes, size);
    reader.at = 4;
    body = get_u32(&reader);
    get_u32(&reader);
    fields = get_u32(&reader);
    if (body > MESSAGE_MAX || fields > MESSAGE_MAX)
        return SIZE_MAX;
    fields = (FIXED_SIZE + fields + 7) / 8 * 8 + body;
    return fields <= size ? (size_t)fields : 0;
}

static void read_field(struct reader *reader, struct message *message)
{
    uint8_t code;
    const char *type;
    const char *text = "";

    reader_align(reader, 8);
    code = get_byte(reader);
    type = get_signature(reader);
    if (strcmp(type, "s") == 0 || strcmp(type, "o") == 0)
        text = get_string(reader);
    else if (strcmp(type, "g") == 0)
        text = get_signature(reader);
    else
        skip_value(reader, &type);
    switch (code) {
    case FIELD_PATH:
        message->path = text;
        break;
    case FIELD_INTERFACE:
        message->interface = text;
        break;
    case FIELD_MEMBER:
        message->member = text;
        break;
    case FIELD_DESTINATION:
        message->destination = text;
        break;
    case FIELD_SIGNATURE:
        message->signature = text;
        break;
    default:
        break;
    }
}

/* Read the head of a message. The texts of the head point into the bytes of the message. */
bool message_read(const uint8_t *bytes, size_t size, struct message *message)
{
    struct reader reader = reader_of(bytes, size);
    size_t end;

    *message = (struct message){.type = bytes[1], .flags = bytes[2], .signature = ""};
    reader.at = 8;
    message->serial = get_u32(&reader);
    end = get_array(&reader, '(');
    while (reader.at < end && !reader.is_bad)
        read_field(&reader, message);
    reader_align(&reader, 8);
    if (reader.is_bad || message->type < METHOD_CALL || message->type > SIGNAL || message->serial == 0)
        return false;
    message->body = (struct reader){.data = bytes + reader.at, .size = size - reader.at, .is_big = reader.is_big};
    return message->type != METHOD_CALL || (message->path != NULL && message->member != NULL);
}

static void put_field(struct writer *out, enum field code, const char *type, const char *text)
{
    if (text == NULL || (code == FIELD_SIGNATURE && text[0] == '\0'))
        return;
    put_align(out, 8);
    put_byte(out, (uint8_t)code);
    put_signature(out, type);
    if (type[0] == 'g')
        put_signature(out, text);
    else
        put_string(out, text);
}

/* Append a message to the bytes to send to a client. `head` has the fields of a signal, `error` the name of an error. */
static void put_message(struct client *client, enum message_type type, const struct signal_head *head, const char *error,
                        uint32_t reply_to, const struct writer *body)
{
    struct writer message = {0};
    size_t fields;
    uint8_t fixed[4] = {'l', (uint8_t)type, NO_REPLY_EXPECTED, 1};

    put_bytes(&message, fixed, sizeof fixed);
    put_u32(&message, body == NULL ? 0 : (uint32_t)body->size);
    put_u32(&message, ++client->serial);
    fields = put_array_begin(&message, '(');
    put_field(&message, FIELD_PATH, "o", head->path);
    put_field(&message, FIELD_INTERFACE, "s", head->interface);
    put_field(&message, FIELD_MEMBER, "s", head->member);
    put_field(&message, FIELD_ERROR, "s", error);
    if (reply_to != 0) {
        put_align(&message, 8);
        put_byte(&message, FIELD_REPLY);
        put_signature(&message, "u");
        put_u32(&message, reply_to);
    }
    if (type != SIGNAL || strcmp(head->sender, BUS_NAME) == 0)
        put_field(&message, FIELD_DESTINATION, "s", client->has_name ? client->name : NULL);
    put_field(&message, FIELD_SENDER, "s", head->sender);
    put_field(&message, FIELD_SIGNATURE, "g", head->signature);
    put_array_end(&message, fields, '(');
    put_align(&message, 8);
    if (body != NULL)
        put_bytes(&message, body->data, body->size);
    put_bytes(&client->out, message.data, message.size);
    free(message.data);
}

void answer(struct client *client, const struct message *call, const char *sender, const char *signature,
            const struct writer *body)
{
    struct signal_head head = {.sender = sender, .signature = signature};

    if ((call->flags & NO_REPLY_EXPECTED) == 0)
        put_message(client, METHOD_RETURN, &head, NULL, call->serial, body);
}

void answer_nothing(struct client *client, const struct message *call, const char *sender)
{
    answer(client, call, sender, "", NULL);
}

void answer_string(struct client *client, const struct message *call, const char *sender, const char *signature,
                   const char *text)
{
    struct writer body = {0};

    put_string(&body, text);
    answer(client, call, sender, signature, &body);
    free(body.data);
}

void answer_u32(struct client *client, const struct message *call, const char *sender, const char *signature, uint32_t value)
{
    struct writer body = {0};

    put_u32(&body, value);
    answer(client, call, sender, signature, &body);
    free(body.data);
}

void answer_error(struct client *client, const struct message *call, const char *sender, const char *name, const char *format,
                  ...)
{
    struct signal_head head = {.sender = sender, .signature = "s"};
    struct writer body = {0};
    char text[1024];
    va_list arguments;

    if (call->flags & NO_REPLY_EXPECTED)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_string(&body, text);
    put_message(client, ERROR_REPLY, &head, name, call->serial, &body);
    free(body.data);
}

/* Answer a call of an unknown method as sd-bus does for systemd's objects. */
void answer_unknown(struct client *client, const struct message *call, const char *sender)
{
    answer_error(client, call, sender, ERROR_UNKNOWN_METHOD, "Unknown method %s or interface %s.", call->member,
                 call->interface == NULL ? "(null)" : call->interface);
}

void send_signal(struct client *client, const struct signal_head *head, const struct writer *body)
{
    put_message(client, SIGNAL, head, NULL, 0, body);
}

void broadcast(const struct signal_head *head, const struct writer *body)
{
    for (struct client *client = clients; client != NULL; client = client->next)
        if (client->has_name && !client->is_gone && client_wants(client, head, body))
            send_signal(client, head, body);
}
