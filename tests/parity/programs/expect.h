/* Calls that must fail in one way each: what differs is told, and the program goes on to the next one. */
#ifndef PARITY_EXPECT_H
#define PARITY_EXPECT_H

#include "check.h"

static int problems;

static void expect(const char *what, long result, long wanted)
{
    if ((result < 0 ? -errno : result) == wanted)
        return;
    dprintf(STDERR_FILENO, "%s: %ld (errno %d), wanted %ld\n", what, result, errno, wanted);
    problems++;
}

#define EXPECT(call, wanted) expect(#call, (long)(call), wanted)

#endif
