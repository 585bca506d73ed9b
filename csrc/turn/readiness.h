/* Finds what has become ready, by the server's epoll. A token names each target: its kind above its number. This code
 * wakes actors that wait for descriptors, in the order of their numbers; Python handles sockets and processes. */
#ifndef SIMUNIX_TURN_READINESS_H
#define SIMUNIX_TURN_READINESS_H

#include "turn/waits/parking.h"

#define READY_AT_ONCE 4096
#define CHANNEL_BUCKETS 4096

/* cffi: begin */
enum { TARGET_SHIFT = 48, TARGET_SOCKET = 0, TARGET_PROCESS = 1, TARGET_ACTOR = 2 };

struct ready_item {
    uint64_t token;           /* for an actor, made of the number of its channel */
    uint64_t order;           /* the order of targets: by kind, then by number */
    struct turn_actor *actor; /* NULL: the target is no actor */
    uint32_t events;
};

struct readiness {
    struct ready_item *items; /* the targets that the last look has found ready */
    uint32_t count, room;
    uint8_t may_have_changed; /* a target may have become ready since the kernel was last asked */
    int *epolls;
    uint32_t epoll_count;
    uint64_t look;             /* how often the kernel has been asked */
    struct watched **channels; /* the actors whose private epolls are watched, by the number of their channel */
    void *events;
};

struct readiness *readiness_new(int epoll);
void readiness_free(struct readiness *readiness);
void readiness_look_also_at(struct readiness *readiness, int epoll);
void readiness_watch(struct readiness *readiness, uint64_t channel, struct turn_actor *actor);
struct turn_actor *readiness_watched(const struct readiness *readiness, uint64_t channel);
void readiness_forget(struct readiness *readiness, uint64_t channel);
int readiness_look(struct readiness *readiness, struct parking *parking);
int readiness_is_next(const struct readiness *readiness, const struct turn_actor *actor);
void readiness_first(const struct readiness *readiness, struct turn_actor *actor);
void readiness_wake(struct readiness *readiness, struct parking *parking, struct turn_actor *actor);
int readiness_is_plain(const struct turn_actor *actor);
int readiness_elect(struct parking *parking, struct turn_actor *actor);
/* cffi: end */

#endif
