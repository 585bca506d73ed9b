/* Arrays that grow. If there is no memory, the server ends. */
#ifndef SIMUNIX_TURN_MEMORY_H
#define SIMUNIX_TURN_MEMORY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void *held(void *memory)
{
    if (memory == NULL) {
        fputs("simunix: the server has no memory left\n", stderr);
        abort();
    }
    return memory;
}

#endif
