/* A priority queue of numbers by (moment, number), in which each number can be moved or removed: a heap with an index. */
#ifndef SIMUNIX_QUEUE_H
#define SIMUNIX_QUEUE_H

struct appointment {
    double moment;
    int number;
};

struct queue {
    struct appointment *heap;
    int count, room;
    int *places; /* by number: where it is in the heap, -1 if it is not */
    int place_count, place_room;
};

void queue_free(struct queue *queue);
void queue_set(struct queue *queue, int number, double moment); /* insert it, or move it */
void queue_remove(struct queue *queue, int number);
double queue_next(const struct queue *queue); /* infinite if empty */
int queue_top(const struct queue *queue);
double queue_moment(const struct queue *queue, int number); /* infinite if it is not in the queue */

#endif
