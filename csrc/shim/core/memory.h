/* Operations on bytes and texts without libc. gcc may insert calls of the first three functions by itself, so these
 * have libc's names (hidden in this library). */
#ifndef SIMUNIX_MEMORY_H
#define SIMUNIX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memcpy(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);
size_t text_length(const char *text);
bool text_equal(const char *a, const char *b);
bool text_starts(const char *text, const char *prefix);
char *text_append(char *to, char *end, const char *text);
char *text_append_number(char *to, char *end, int64_t number);

#endif
