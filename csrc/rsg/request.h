/* Writes the requests of librsg and reads their answers: fields of 8 bytes, then text (shared/wire/rsg_protocol.h). */
#ifndef RSG_REQUEST_H
#define RSG_REQUEST_H

#include "shared/wire/rsg_protocol.h"

#include <stddef.h>
#include <stdint.h>

union field {
    int64_t number;
    double real;
};

/* A request and then its answer, in one buffer. */
struct request {
    struct simunix_rsg_call call;
    size_t fields; /* the number of fields that were written, or read */
    union {
        union field field[SIMUNIX_RSG_REQUEST_MAX / 8];
        char bytes[SIMUNIX_RSG_REQUEST_MAX];
    } out;
    union {
        union field field[SIMUNIX_RSG_ANSWER_MAX / 8];
        char bytes[SIMUNIX_RSG_ANSWER_MAX];
    } in;
};

void request_begin(struct request *request, enum simunix_rsg_operation operation);
void request_number(struct request *request, int64_t number);
void request_real(struct request *request, double real);
/* returns the error: RSG_BAD_REQUEST if the request is too long */
int request_send(struct request *request, const void *text, size_t length);
int64_t answer_number(const struct request *request, size_t at); /* returns 0 if the answer has no such field */
double answer_real(const struct request *request, size_t at);
/* the text that follows `fields` fields */
void answer_text(const struct request *request, size_t fields, char *to, size_t room);

/* makes a request of integers, whose answer has no fields */
int simple(enum simunix_rsg_operation operation, int64_t one, int64_t two, size_t count);
int number_of(enum simunix_rsg_operation operation, const char *name, int64_t *number);

#endif
