/* What the two files of the solver share: maxmin.c keeps the system, maxmin_solve.c computes the rates. */
#ifndef SIMUNIX_MAXMIN_PARTS_H
#define SIMUNIX_MAXMIN_PARTS_H

#include "maxmin.h"
#include "storage.h"

struct element { /* of a variable: one link that it uses */
    double weight;
    int link;
    int place; /* among the link's users, while on */
};

struct user { /* of a link: one variable that is on */
    double weight;
    int variable;
    int element;
};

struct link {
    double capacity;
    double demand; /* the sum of weight * limit over its users */
    struct user *users;
    int count, room;
    int updates; /* of `demand` since it was last summed up */
    int concurrency, occupied;
    int is_fat_pipe;
    int is_marked;     /* is in the list of those whose users must be solved again */
    long seen;         /* in which solve it became part of the component */
    double left;       /* during a solve: capacity that is not given away */
    double usage;      /* sum of weight / penalty over users that have no rate yet */
    double usage_then; /* when it was last summed up */
    int unfixed;       /* users that have no rate yet */
};

enum variable_state { VARIABLE_FREE, VARIABLE_OFF, VARIABLE_STAGED, VARIABLE_ON };

struct variable {
    double share; /* 1 / penalty */
    double bound; /* as given */
    double limit; /* the bound, and what each link would give the variable alone */
    double rate;  /* as of the last solve */
    double fresh; /* of the present solve */
    double step;  /* what bottleneck.c has added to it last */
    struct element *elements;
    int count;
    enum variable_state state;
    int is_marked; /* is in the list of those to be solved again */
    long seen, fixed;
};

struct candidate { /* a link that may be the next to be full, at this level or, since the level was computed, a higher one */
    double level;
    int link;
};

struct maxmin {
    struct link *links;
    int link_count, link_room;
    struct variable *variables;
    int variable_count, variable_room;
    struct numbers free_variables, staged;
    struct numbers marked_links, marked_variables;                /* where something has changed */
    struct numbers component_links, component_variables, changed; /* of the last solve */
    struct candidate *heap;
    int heap_count, heap_room;
    long solves, work;
    int shares_bottlenecks; /* bottleneck.c solves */
};

/* Compute the fresh rates of all variables that are on. */
void maxmin_fill_bottlenecks(maxmin *system);

/* Whether the link could be full, and so hold a variable back. The slack covers the rounding of sums. */
static inline int holds_back(const struct link *link)
{
    return !link->is_fat_pipe && link->demand > link->capacity * (1 + 1e-12);
}

#endif
