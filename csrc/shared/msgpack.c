/* msgpack (https://github.com/msgpack/msgpack/blob/master/spec.md): encodes and decodes the messages between shim and
 * server.
 *
 * Compiled into the shim and, for the tests, into the cffi module. No allocation, no recursion; the decoder takes any
 * bytes.
 */
#include "shared/msgpack.h"

void msgpack_start(struct msgpack_writer *writer, uint8_t *buffer, size_t size)
{
    writer->next = buffer;
    writer->end = buffer + size;
    writer->overflow = 0;
}

static int has_room(struct msgpack_writer *writer, size_t size)
{
    if (writer->overflow || (size_t)(writer->end - writer->next) < size)
        writer->overflow = 1;
    return !writer->overflow;
}

/* A type byte, then `size` bytes of `value`, most significant first. */
static void put_tagged(struct msgpack_writer *writer, uint8_t tag, uint64_t value, int size)
{
    if (!has_room(writer, 1 + (size_t)size))
        return;
    *writer->next++ = tag;
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
        *writer->next++ = (uint8_t)(value >> shift);
}

void msgpack_put_array(struct msgpack_writer *writer, unsigned count)
{
    if (count < 16)
        put_tagged(writer, (uint8_t)(0x90 | count), 0, 0);
    else
        put_tagged(writer, 0xdc, count, 2);
}

void msgpack_put_uint(struct msgpack_writer *writer, uint64_t value)
{
    if (value < 0x80)
        put_tagged(writer, (uint8_t)value, 0, 0);
    else if (value <= 0xff)
        put_tagged(writer, 0xcc, value, 1);
    else if (value <= 0xffff)
        put_tagged(writer, 0xcd, value, 2);
    else if (value <= 0xffffffff)
        put_tagged(writer, 0xce, value, 4);
    else
        put_tagged(writer, 0xcf, value, 8);
}

void msgpack_put_int(struct msgpack_writer *writer, int64_t value)
{
    if (value >= 0)
        msgpack_put_uint(writer, (uint64_t)value);
    else if (value >= -32)
        put_tagged(writer, (uint8_t)value, 0, 0);
    else if (value >= INT8_MIN)
        put_tagged(writer, 0xd0, (uint64_t)value, 1);
    else if (value >= INT16_MIN)
        put_tagged(writer, 0xd1, (uint64_t)value, 2);
    else if (value >= INT32_MIN)
        put_tagged(writer, 0xd2, (uint64_t)value, 4);
    else
        put_tagged(writer, 0xd3, (uint64_t)value, 8);
}

static void put_content(struct msgpack_writer *writer, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;

    if (!has_room(writer, length))
        return;
    for (size_t i = 0; i < length; i++)
        *writer->next++ = from[i];
}

void msgpack_put_length(struct msgpack_writer *writer, size_t length)
{
    if (length <= 0xff)
        put_tagged(writer, 0xc4, length, 1);
    else
        put_tagged(writer, 0xc5, length, 2);
}

void msgpack_put_bytes(struct msgpack_writer *writer, const void *bytes, size_t length)
{
    msgpack_put_length(writer, length);
    put_content(writer, bytes, length);
}

void msgpack_put_text(struct msgpack_writer *writer, const char *text, size_t length)
{
    if (length < 32)
        put_tagged(writer, (uint8_t)(0xa0 | length), 0, 0);
    else if (length <= 0xff)
        put_tagged(writer, 0xd9, length, 1);
    else
        put_tagged(writer, 0xda, length, 2);
    put_content(writer, text, length);
}

struct reader {
    const uint8_t *next;
    const uint8_t *end;
};

static int take(struct reader *reader, int size, uint64_t *value)
{
    *value = 0;
    if (reader->end - reader->next < size)
        return -1;
    for (int i = 0; i < size; i++)
        *value = *value << 8 | *reader->next++;
    return 0;
}

static int take_bytes(struct reader *reader, struct msgpack_array *array, int at, uint64_t length)
{
    if ((uint64_t)(reader->end - reader->next) < length)
        return -1;
    array->kind[at] = 'b';
    array->bytes[at] = reader->next;
    array->length[at] = (size_t)length;
    reader->next += length;
    return 0;
}

/* Signed types are 0xd0..0xd3 and unsigned ones 0xcc..0xcf, of 1, 2, 4 and 8 bytes. */
static int take_integer(struct reader *reader, struct msgpack_array *array, int at, uint8_t tag)
{
    int size = 1 << (tag & 3);
    int unused_bits = 64 - 8 * size;
    uint64_t raw;

    if (take(reader, size, &raw) != 0)
        return -1;
    array->kind[at] = 'i';
    array->number[at] = tag >= 0xd0 ? (int64_t)(raw << unused_bits) >> unused_bits : (int64_t)raw;
    return 0;
}

static int take_value(struct reader *reader, struct msgpack_array *array, int at)
{
    uint64_t tag;
    uint64_t length;

    if (take(reader, 1, &tag) != 0)
        return -1;
    if (tag < 0x80 || tag >= 0xe0) {
        array->kind[at] = 'i';
        array->number[at] = (int8_t)tag;
        return 0;
    }
    if (tag >= 0xa0 && tag < 0xc0)
        return take_bytes(reader, array, at, tag & 0x1f);
    if (tag >= 0xcc && tag <= 0xd3)
        return take_integer(reader, array, at, (uint8_t)tag);
    if (tag == 0xc4 || tag == 0xd9)
        return take(reader, 1, &length) != 0 ? -1 : take_bytes(reader, array, at, length);
    if (tag == 0xc5 || tag == 0xda)
        return take(reader, 2, &length) != 0 ? -1 : take_bytes(reader, array, at, length);
    return -1;
}

/* Decode one flat array that fills the input exactly. Returns 0, or -1 if the input is anything else. */
int msgpack_get_array(struct msgpack_array *array, const uint8_t *input, size_t size)
{
    struct reader reader = {input, input + size};

    array->count = 0;
    if (size == 0 || (*reader.next & 0xf0) != 0x90)
        return -1;
    int count = *reader.next++ & 0x0f;
    for (int i = 0; i < count; i++)
        if (take_value(&reader, array, i) != 0)
            return -1;
    array->count = count;
    return reader.next == reader.end ? 0 : -1;
}
