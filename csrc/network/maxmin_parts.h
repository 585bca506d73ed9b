/* The structs that the files of the solver share: maxmin.c stores the system of links and variables, maxmin_solve.c
 * computes the rates. */
#ifndef SIMUNIX_MAXMIN_PARTS_H
#define SIMUNIX_MAXMIN_PARTS_H

#include "maxmin.h"
#include "storage.h"

struct element { /* a link that a variable uses */
    double weight;
    int link;
    int place; /* the variable's place among the link's users, while it is on */
};

struct user { /* a variable that uses a link, and is on */
    double weight;
    int variable;
    int element;
};

struct link {
    double capacity;
    double demand; /* the sum of weight * limit over its users */
    struct user *users;
    int count, room;
    int updates; /* how often `demand` was updated since it was last summed up */
    int concurrency, occupied;
    int is_fat_pipe;
    int is_marked;     /* the link is in the list of those whose users must be solved again */
    long seen;         /* the number of the solve in which the link became part of the component */
    double left;       /* during a solve: the capacity that has not been given to a variable */
    double usage;      /* the sum of weight / penalty over the users that have no rate yet */
    double usage_then; /* the value of `usage` when it was last summed up */
    int unfixed;       /* the number of users that have no rate yet */
};

enum variable_state { VARIABLE_FREE, VARIABLE_OFF, VARIABLE_STAGED, VARIABLE_ON };

struct variable {
    double share; /* 1 / penalty */
    double bound; /* the bound as the caller has given it */
    double limit; /* the lowest of the bound and of the rates that each link could give to this variable alone */
    double rate;  /* the rate as of the last solve */
    double fresh; /* the rate in the present solve */
    double step;  /* the increase of the rate in the last step of bottleneck.c */
    struct element *elements;
    int count;
    enum variable_state state;
    int is_marked; /* the variable is in the list of those that must be solved again */
    long seen, fixed;
};

struct candidate { /* a link that may be the next to be full: at this level, or at a higher one since the level was computed */
    double level;
    int link;
};

struct maxmin {
    struct link *links;
    int link_count, link_room;
    struct variable *variables;
    int variable_count, variable_room;
    struct numbers free_variables, staged;
    struct numbers marked_links, marked_variables;                /* the links and variables that have changed */
    struct numbers component_links, component_variables, changed; /* of the last solve */
    struct candidate *heap;
    int heap_count, heap_room;
    long solves, work;
    int shares_bottlenecks; /* whether bottleneck.c computes the rates */
};

/* Compute the new rates of all variables that are on. */
void maxmin_fill_bottlenecks(maxmin *system);

/* Return whether the link could become full, and so limit a variable. The slack covers the rounding of sums. */
static inline int holds_back(const struct link *link)
{
    return !link->is_fat_pipe && link->demand > link->capacity * (1 + 1e-12);
}

#endif
