/* Values in D-Bus's format: each at a multiple of its alignment, texts with their length and a zero byte. */
#include "bus.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

size_t alignment_of(char type)
{
    switch (type) {
    case 'y':
    case 'g':
    case 'v':
        return 1;
    case 'n':
    case 'q':
        return 2;
    case 'x':
    case 't':
    case 'd':
    case '(':
    case '{':
        return 8;
    default:
        return 4;
    }
}

/* Reading */

static const uint8_t *take(struct reader *reader, size_t size)
{
    static const uint8_t zeros[8];
    const uint8_t *found = reader->data + reader->at;

    if (reader->is_bad || size > reader->size - reader->at) {
        reader->is_bad = true;
        return size <= sizeof zeros ? zeros : NULL;
    }
    reader->at += size;
    return found;
}

void reader_align(struct reader *reader, size_t to)
{
    size_t at = (reader->at + to - 1) / to * to;

    if (at > reader->size)
        reader->is_bad = true;
    else
        reader->at = at;
}

static uint64_t get_number(struct reader *reader, size_t size)
{
    const uint8_t *bytes;
    uint64_t value = 0;

    reader_align(reader, size);
    bytes = take(reader, size);
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[reader->is_big ? i : size - 1 - i];
    return value;
}

uint8_t get_byte(struct reader *reader)
{
    return (uint8_t)get_number(reader, 1);
}

uint32_t get_u32(struct reader *reader)
{
    return (uint32_t)get_number(reader, 4);
}

uint64_t get_u64(struct reader *reader)
{
    return get_number(reader, 8);
}

static const char *get_text(struct reader *reader, size_t length)
{
    const uint8_t *text;

    if (length >= reader->size - reader->at) {
        reader->is_bad = true;
        return "";
    }
    text = take(reader, length + 1);
    if (reader->is_bad || memchr(text, 0, length + 1) != text + length) {
        reader->is_bad = true;
        return "";
    }
    return (const char *)text;
}

const char *get_string(struct reader *reader)
{
    return get_text(reader, get_u32(reader));
}

const char *get_signature(struct reader *reader)
{
    return get_text(reader, get_byte(reader));
}

size_t get_array(struct reader *reader, char type)
{
    size_t length = get_u32(reader);

    reader_align(reader, alignment_of(type));
    if (reader->is_bad || length > reader->size - reader->at) {
        reader->is_bad = true;
        return reader->at;
    }
    return reader->at + length;
}

/* Return the end of the first complete type of a signature. */
static const char *type_end(const char *signature)
{
    int depth = 0;

    for (; *signature != '\0'; signature++) {
        if (*signature == '(' || *signature == '{')
            depth++;
        else if (*signature == ')' || *signature == '}')
            depth--;
        if (depth == 0 && *signature != 'a')
            return signature + 1;
    }
    return signature;
}

static void skip_deep(struct reader *reader, const char **signature, int depth);

static void skip_container(struct reader *reader, const char **signature, int depth)
{
    char type = *(*signature)++;
    const char *inner = *signature;
    size_t end;

    if (type == 'v') {
        inner = get_signature(reader);
        skip_deep(reader, &inner, depth + 1);
    } else if (type == 'a') {
        end = get_array(reader, *inner);
        reader->at = end;
        *signature = type_end(inner);
    } else {
        reader_align(reader, 8);
        while (**signature != '\0' && **signature != ')' && **signature != '}' && !reader->is_bad)
            skip_deep(reader, signature, depth + 1);
        if (**signature != '\0')
            (*signature)++;
    }
}

static void skip_deep(struct reader *reader, const char **signature, int depth)
{
    char type = **signature;

    if (depth > DEPTH_MAX || type == '\0') {
        reader->is_bad = true;
        return;
    }
    if (strchr("va({", type) != NULL) {
        skip_container(reader, signature, depth);
        return;
    }
    (*signature)++;
    if (type == 's' || type == 'o')
        get_string(reader);
    else if (type == 'g')
        get_signature(reader);
    else if (strchr("ynqiubxtdh", type) != NULL)
        get_number(reader, alignment_of(type));
    else
        reader->is_bad = true;
}

/* Skip one value of the first type of a signature, and this type. */
void skip_value(struct reader *reader, const char **signature)
{
    skip_deep(reader, signature, 0);
}

/* Writing, in the order of bytes of this processor */

void put_bytes(struct writer *writer, const void *bytes, size_t size)
{
    if (writer->size + size > writer->room) {
        writer->room = 2 * (writer->size + size) + 256;
        writer->data = realloc(writer->data, writer->room);
        if (writer->data == NULL)
            fail("no memory for a message of %zu bytes", writer->room);
    }
    if (size > 0)
        memcpy(writer->data + writer->size, bytes, size);
    writer->size += size;
}

void put_align(struct writer *writer, size_t to)
{
    static const uint8_t zeros[8];

    put_bytes(writer, zeros, (to - writer->size % to) % to);
}

void put_byte(struct writer *writer, uint8_t value)
{
    put_bytes(writer, &value, 1);
}

void put_u32(struct writer *writer, uint32_t value)
{
    put_align(writer, 4);
    put_bytes(writer, &value, 4);
}

void put_u64(struct writer *writer, uint64_t value)
{
    put_align(writer, 8);
    put_bytes(writer, &value, 8);
}

void put_string(struct writer *writer, const char *text)
{
    put_u32(writer, (uint32_t)strlen(text));
    put_bytes(writer, text, strlen(text) + 1);
}

void put_signature(struct writer *writer, const char *signature)
{
    put_byte(writer, (uint8_t)strlen(signature));
    put_bytes(writer, signature, strlen(signature) + 1);
}

/* The length of an array includes neither itself nor the padding before the first element. */
size_t put_array_begin(struct writer *writer, char type)
{
    size_t begin;

    put_u32(writer, 0);
    begin = writer->size;
    put_align(writer, alignment_of(type));
    return begin;
}

void put_array_end(struct writer *writer, size_t begin, char type)
{
    size_t to = alignment_of(type);
    uint32_t length = (uint32_t)(writer->size - (begin + to - 1) / to * to);

    memcpy(writer->data + begin - 4, &length, 4);
}
