/* Requests that make no sense are answered with an error, and hurt nobody. */
#include "shared/prctl_options.h"
#include "shared/wire/rsg_protocol.h"

#include "rsg/rsg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define CHECK(what)                                             \
    do {                                                        \
        if (!(what)) {                                          \
            printf("failed in line %d: %s\n", __LINE__, #what); \
            exit(1);                                            \
        }                                                       \
    } while (0)

static char bytes[8192];

static long send_raw(int64_t operation, size_t length)
{
    static char answer[4096];
    struct simunix_rsg_call call = {
        .operation = operation, .request = bytes, .request_bytes = length, .answer = answer, .answer_room = sizeof answer};

    if (prctl(PR_SIMUNIX_RSG, &call) != 0)
        return -errno;
    return call.status;
}

int main(void)
{
    uint64_t state = 88172645463325252u;
    int64_t own;

    CHECK(send_raw(RSG_SLEEP, 8) == RSG_NO_ACTOR);
    CHECK(rsg_connect(12345, "", &own) == RSG_NO_ACTOR);
    CHECK(rsg_connect(0, "garbage", &own) == 0 && own == 1);
    CHECK(rsg_connect(0, "again", &own) == RSG_BAD_VALUE);
    CHECK(prctl(PR_SIMUNIX_RSG, 8) == -1 && errno == EFAULT);
    CHECK(send_raw(RSG_CLOCK, 4000) == -EINVAL);
    CHECK(send_raw(-1, 0) == RSG_BAD_REQUEST && send_raw(4711, 8) == RSG_BAD_REQUEST &&
          send_raw(1L << 62, 0) == RSG_BAD_REQUEST);
    CHECK(send_raw(RSG_RESUME, 0) == RSG_BAD_REQUEST);
    for (int operation = 2; operation < 90; operation++)
        CHECK(operation == RSG_END || send_raw(operation, 0) >= 0);
    for (int round = 0; round < 3000; round++) {
        size_t length = 8 * (state >> 32 & 7);
        int64_t operation = (int64_t)(state % 63);

        for (size_t i = 0; i < length; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            bytes[i] = (char)(state & 1 ? state >> 8 : 0);
        }
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        /* what ends the actor, or has it wait for others that are not there */
        if (operation == RSG_END || operation == RSG_KILL || operation == RSG_SUSPEND || operation == RSG_GET ||
            operation == RSG_PUT || operation == RSG_LOCK || operation == RSG_ACQUIRE || operation == RSG_ARRIVE ||
            operation == RSG_CONDITION_WAIT || operation == RSG_HOST_TURN || operation == RSG_JOIN || operation == RSG_WAIT ||
            operation == RSG_WAIT_ANY || operation == RSG_SLEEP || operation == RSG_EXECUTE || operation == RSG_SENDTO ||
            operation == RSG_CREATED)
            continue;
        CHECK(send_raw(operation, length) >= 0);
        CHECK(send_raw(RSG_START + (int64_t)(state % 4), length) >= 0); /* up to RSG_SET_TERM */
    }
    CHECK(rsg_sleep(1) == 0);
    puts("unharmed");
    return 0;
}
