/* Errors that end the program, and allocation of memory, whose failure is such an error. */
#include "job.h"

#include <stdarg.h>
#include <stdlib.h>

void fail(const char *format, ...)
{
    va_list arguments;

    fflush(stdout);
    fputs("simunix-job: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);

    if (memory == NULL)
        fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}

void *grow(void *old, size_t count, size_t size)
{
    void *memory = realloc(old, (count ? count : 1) * size);

    if (memory == NULL)
        fail("no memory for %zu times %zu bytes", count, size);
    return memory;
}
