/* ABA: a thread that pops from a stack without a lock sees the head that it has seen before, and takes its old successor,
 * which another thread has popped meanwhile. Mended: a number at the head changes with each change. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <unistd.h>

#define NODES 3

static _Atomic uint64_t head; /* number of changes << 32 | node, 0: none */
static uint32_t next[NODES + 1];
static atomic_int owners[NODES + 1];

static uint64_t changed(uint64_t before, uint32_t node)
{
#ifdef MENDED
    return ((before >> 32) + 1) << 32 | node;
#else
    (void)before;
    return node;
#endif
}

static uint32_t pop(void)
{
    uint64_t seen = head;
    uint32_t after;

    do {
        if ((uint32_t)seen == 0)
            return 0;
        after = next[(uint32_t)seen];
        getppid();
    } while (!atomic_compare_exchange_strong(&head, &seen, changed(seen, after)));
    return (uint32_t)seen;
}

static void push(uint32_t node)
{
    uint64_t seen = head;

    do
        next[node] = (uint32_t)seen;
    while (!atomic_compare_exchange_strong(&head, &seen, changed(seen, node)));
}

static int take(void)
{
    uint32_t node = pop();

    return node != 0 && atomic_fetch_add(&owners[node], 1) != 0;
}

static void *one(void *argument)
{
    (void)argument;
    return take() || take() ? &head : NULL;
}

static void *other(void *argument)
{
    uint32_t first = pop();
    int is_wrong = take();

    (void)argument;
    getppid();
    if (first != 0)
        push(first);
    return is_wrong ? &head : NULL;
}

int main(void)
{
    pthread_t threads[2];
    void *first, *second;

    for (uint32_t node = 1; node <= NODES; node++)
        push(node);
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], &first);
    pthread_join(threads[1], &second);
    return first != NULL || second != NULL;
}
