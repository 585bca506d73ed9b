/* msgpack in a fixed buffer: arrays of integers and byte strings, which are all that the messages contain. */
#ifndef SIMUNIX_MSGPACK_H
#define SIMUNIX_MSGPACK_H

#include <stddef.h>
#include <stdint.h>

#define MSGPACK_VALUES_MAX 16

/* cffi: begin */
struct msgpack_writer {
    uint8_t *next;
    uint8_t *end;
    int overflow; /* set if a value did not fit; from then on nothing is written */
};

/* One decoded array: kind[i] is 'i' (an integer: number[i]) or 'b' (bytes[i], length[i]; they point into the input). */
struct msgpack_array {
    int count;
    char kind[16];
    int64_t number[16];
    const uint8_t *bytes[16];
    size_t length[16];
};

void msgpack_start(struct msgpack_writer *writer, uint8_t *buffer, size_t size);
void msgpack_put_array(struct msgpack_writer *writer, unsigned count);
void msgpack_put_int(struct msgpack_writer *writer, int64_t value);
void msgpack_put_uint(struct msgpack_writer *writer, uint64_t value);
void msgpack_put_length(struct msgpack_writer *writer, size_t length); /* the caller sends the bytes after the buffer */
void msgpack_put_bytes(struct msgpack_writer *writer, const void *bytes, size_t length);
void msgpack_put_text(struct msgpack_writer *writer, const char *text, size_t length);
int msgpack_get_array(struct msgpack_array *array, const uint8_t *input, size_t size);
/* cffi: end */

#endif
