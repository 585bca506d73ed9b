/* The solve: finds the part of the system that is affected by changes, and fills it progressively.
 *
 * Invariant: the level at which a link would be full only rises while variables get their rates. So the heap may
 * contain levels that are too low: the top level is computed anew, and goes back into the heap if another level is
 * lower now. */
#include "maxmin_parts.h"

#include <math.h>

#define SAME 1e-14            /* relative: a smaller difference of rates counts as no change */
#define SUM_AGAIN_BELOW 0.125 /* a part of the sum's first value: below it, the rounding errors of subtractions are too large */

/* The heap of candidates */

static int is_before(struct candidate a, struct candidate b)
{
    return a.level < b.level || (a.level == b.level && a.link < b.link);
}

static void heap_push(maxmin *system, double level, int link)
{
    struct candidate fresh = {level, link};
    int place = system->heap_count;

    system->heap = make_room(system->heap, system->heap_count++, &system->heap_room, sizeof *system->heap);
    for (; place > 0 && is_before(fresh, system->heap[(place - 1) / 2]); place = (place - 1) / 2)
        system->heap[place] = system->heap[(place - 1) / 2];
    system->heap[place] = fresh;
}

/* Replace the top of the heap by a candidate, and move the candidate down to its place. */
static void heap_replace(maxmin *system, struct candidate fresh)
{
    int place = 0, below;

    while ((below = 2 * place + 1) < system->heap_count) {
        if (below + 1 < system->heap_count && is_before(system->heap[below + 1], system->heap[below]))
            below++;
        if (!is_before(system->heap[below], fresh))
            break;
        system->heap[place] = system->heap[below];
        place = below;
    }
    system->heap[place] = fresh;
}

static void heap_pop(maxmin *system)
{
    if (--system->heap_count > 0)
        heap_replace(system, system->heap[system->heap_count]);
}

/* The part of the system that must be solved again */

static void see_variable(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];

    if (variable->state == VARIABLE_ON && variable->seen != system->solves) {
        variable->seen = system->solves;
        numbers_push(&system->component_variables, number);
    }
}

static void see_users(maxmin *system, const struct link *link)
{
    for (int i = 0; i < link->count; i++)
        see_variable(system, link->users[i].variable);
}

static void see_links(maxmin *system, const struct variable *variable)
{
    for (int i = 0; i < variable->count; i++) {
        int number = variable->elements[i].link;
        struct link *link = &system->links[number];

        if (link->seen != system->solves && holds_back(link)) {
            link->seen = system->solves;
            numbers_push(&system->component_links, number);
            see_users(system, link);
        }
    }
}

/* Collect all links and variables that are connected with a marked one by links that hold a variable back. */
static void collect(maxmin *system)
{
    system->component_links.count = system->component_variables.count = 0;
    for (int i = 0; i < system->marked_links.count; i++) {
        struct link *link = &system->links[system->marked_links.item[i]];

        link->is_marked = 0;
        see_users(system, link);
    }
    for (int i = 0; i < system->marked_variables.count; i++) {
        system->variables[system->marked_variables.item[i]].is_marked = 0;
        see_variable(system, system->marked_variables.item[i]);
    }
    system->marked_links.count = system->marked_variables.count = 0;
    for (int i = 0; i < system->component_variables.count; i++)
        see_links(system, &system->variables[system->component_variables.item[i]]);
}

/* Filling the links */

static void sum_usage(maxmin *system, struct link *link)
{
    link->usage = 0;
    for (int i = 0; i < link->count; i++) {
        const struct variable *variable = &system->variables[link->users[i].variable];

        if (variable->fixed != system->solves)
            link->usage += link->users[i].weight * variable->share;
    }
    link->usage_then = link->usage;
}

static double level_of(maxmin *system, struct link *link)
{
    if (link->usage < SUM_AGAIN_BELOW * link->usage_then)
        sum_usage(system, link);
    return link->left > 0 ? link->left / link->usage : 0;
}

static void fix(maxmin *system, struct variable *variable, double rate)
{
    variable->fixed = system->solves;
    variable->fresh = rate;
    for (int i = 0; i < variable->count; i++) {
        struct link *link = &system->links[variable->elements[i].link];

        if (link->seen != system->solves)
            continue;
        link->left -= variable->elements[i].weight * rate;
        link->usage -= variable->elements[i].weight * variable->share;
        link->unfixed--;
    }
}

/* Give those users of a link that reach their limits below the level these limits as rates. Returns how many there are. */
static int fix_limited(maxmin *system, const struct link *link, double level)
{
    int found = 0;

    for (int i = 0; i < link->count; i++) {
        struct variable *variable = &system->variables[link->users[i].variable];

        if (variable->fixed != system->solves && variable->limit < level * variable->share) {
            fix(system, variable, variable->limit);
            found++;
        }
    }
    return found;
}

static void fix_rest(maxmin *system, const struct link *link, double level)
{
    for (int i = 0; i < link->count; i++) {
        struct variable *variable = &system->variables[link->users[i].variable];

        if (variable->fixed != system->solves)
            fix(system, variable, level * variable->share);
    }
}

static void prepare(maxmin *system)
{
    system->heap_count = 0;
    for (int i = 0; i < system->component_links.count; i++) {
        int number = system->component_links.item[i];
        struct link *link = &system->links[number];

        link->left = link->capacity;
        link->unfixed = link->count;
        sum_usage(system, link);
        heap_push(system, level_of(system, link), number);
    }
}

static void fill(maxmin *system)
{
    double reached = 0; /* levels never fall, except by rounding */

    prepare(system);
    while (system->heap_count > 0) {
        struct candidate top = system->heap[0];
        struct link *link = &system->links[top.link];
        double level;

        if (link->unfixed == 0) {
            heap_pop(system);
            continue;
        }
        level = fmax(reached, level_of(system, link));
        if (level > top.level) {
            heap_replace(system, (struct candidate){level, top.link});
            if (system->heap[0].link != top.link)
                continue;
        }
        reached = level;
        if (fix_limited(system, link, level) == 0) {
            fix_rest(system, link, level);
            heap_pop(system);
        }
    }
}

static void publish(maxmin *system)
{
    system->changed.count = 0;
    for (int i = 0; i < system->component_variables.count; i++) {
        int number = system->component_variables.item[i];
        struct variable *variable = &system->variables[number];
        double rate = variable->fixed == system->solves ? variable->fresh : variable->limit;

        if (!(fabs(rate - variable->rate) <= SAME * variable->rate)) {
            variable->rate = rate;
            numbers_push(&system->changed, number);
        }
    }
}

int maxmin_solve(maxmin *system)
{
    system->solves++;
    if (system->shares_bottlenecks) {
        maxmin_fill_bottlenecks(system);
    } else {
        collect(system);
        fill(system);
    }
    publish(system);
    system->work += system->component_variables.count;
    return system->changed.count;
}

const int *maxmin_changed(const maxmin *system)
{
    return system->changed.item;
}

long maxmin_work(const maxmin *system)
{
    return system->work;
}
