/* How librsg writes a request and reads its answer: fields of 8 bytes, then text (shared/wire/rsg_protocol.h). */
#ifndef RSG_REQUEST_H
#define RSG_REQUEST_H

#include "shared/wire/rsg_protocol.h"

#include <stddef.h>
#include <stdint.h>

union field {
    int64_t number;
    double real;
};

/* A request, and then its answer, in one buffer. */
struct request {
    struct simunix_rsg_call call;
    size_t fields; /* how many are written, or read */
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
int request_send(struct request *request, const void *text, size_t length); /* the error; RSG_BAD_REQUEST if it is too long */
int64_t answer_number(const struct request *request, size_t at);            /* 0 where the answer has no such field */
double answer_real(const struct request *request, size_t at);
void answer_text(const struct request *request, size_t fields, char *to, size_t room); /* behind so many fields */

int simple(enum simunix_rsg_operation operation, int64_t one, int64_t two, size_t count); /* integers, and no answer */
int number_of(enum simunix_rsg_operation operation, const char *name, int64_t *number);

#endif
