/* Errors that end the bus, and allocation of memory, whose failure is such an error. */
#include "bus.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void fail(const char *format, ...)
{
    va_list arguments;

    fputs("simunix-bus: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *allocate(size_t size)
{
    void *memory = calloc(1, size);

    if (memory == NULL)
        fail("no memory for %zu bytes", size);
    return memory;
}
