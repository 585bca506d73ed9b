/* A priority queue of numbers, ordered by (moment, number), from which any number can be removed: a heap with an index. */
#ifndef SIMUNIX_QUEUE_H
#define SIMUNIX_QUEUE_H

struct appointment {
    double moment;
    int number;
};

struct queue {
    struct appointment *heap;
    int count, room;
    int *places; /* for each number: its place in the heap, -1 if it is not in the heap */
    int place_count, place_room;
};

void queue_free(struct queue *queue);
void queue_set(struct queue *queue, int number, double moment); /* insert the number, or move it to another moment */
void queue_remove(struct queue *queue, int number);
double queue_next(const struct queue *queue); /* returns infinity if the queue is empty */
int queue_top(const struct queue *queue);
double queue_moment(const struct queue *queue, int number); /* returns infinity if the number is not in the queue */

#endif
