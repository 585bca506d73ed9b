/* Operations on bytes and texts, without libc. */
#include "shim/core/memory.h"

void *memcpy(void *to, const void *from, size_t size)
{
    void *start = to;

    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return start;
}

void *memset(void *to, int byte, size_t size)
{
    void *start = to;

    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return start;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *left = a;
    const unsigned char *right = b;

    for (size_t i = 0; i < size; i++)
        if (left[i] != right[i])
            return left[i] - right[i];
    return 0;
}

size_t text_length(const char *text)
{
    size_t length = 0;

    while (text[length] != '\0')
        length++;
    return length;
}

bool text_equal(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

bool text_starts(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

/* Append as much of a text as fits before `end` (exclusive, with room for the final zero). Returns where the zero is. */
char *text_append(char *to, char *end, const char *text)
{
    while (*text != '\0' && to + 1 < end)
        *to++ = *text++;
    *to = '\0';
    return to;
}

char *text_append_number(char *to, char *end, int64_t number)
{
    char digits[24];
    char *digit = digits + sizeof digits;
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

    *--digit = '\0';
    do
        *--digit = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (number < 0)
        *--digit = '-';
    return text_append(to, end, digit);
}
