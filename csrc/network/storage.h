/* Arrays that grow. If there is no memory, the process ends, since the network cannot go on without it. */
#ifndef SIMUNIX_STORAGE_H
#define SIMUNIX_STORAGE_H

#include <stdio.h>
#include <stdlib.h>

static inline void *allocate(void *old, size_t count, size_t size)
{
    void *made = realloc(old, (count > 0 ? count : 1) * size);

    if (made == NULL) {
        fprintf(stderr, "simunix: out of memory for the network model (%zu bytes)\n", count * size);
        abort();
    }
    return made;
}

/* Make room for one more element in an array that has `count` elements and room for `*room`. */
static inline void *make_room(void *array, int count, int *room, size_t size)
{
    if (count < *room)
        return array;
    *room = *room > 0 ? 2 * *room : 8;
    return allocate(array, (size_t)*room, size);
}

/* A list of numbers. */
struct numbers {
    int *item;
    int count, room;
};

static inline void numbers_push(struct numbers *list, int number)
{
    list->item = make_room(list->item, list->count, &list->room, sizeof *list->item);
    list->item[list->count++] = number;
}

#endif
