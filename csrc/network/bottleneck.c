/* Fair bottleneck, instead of max-min: how SimGrid's model of parallel tasks (L07) shares resources.
 *
 * A variable with weights w on its links and the rate x uses w * x of each. Again and again, each link that is not full
 * offers each of its n variables that still rise an equal part of what is left of it, left / n; a variable takes as
 * much more as its tightest link offers, or as its bound allows. A full link stops its variables.
 *
 * As in SimGrid 3.32 (src/kernel/lmm/fair_bottleneck.cpp), when one link stops a variable, the variable's last step is
 * counted a second time on its other links. Each solve computes all rates anew.
 *
 * During a solve, the fields of a variable mean: `fresh` its rate so far, `step` its last increase, `fixed` that it
 * rises no more. The fields of a link mean: `usage` the offer to each variable, `seen` that the link is not full. */
#include "maxmin_parts.h"

#include <math.h>

#define PRECISION 1e-5 /* SimGrid's maxmin/precision: a smaller remainder of a link counts as nothing */

static int is_in(const maxmin *system, const struct variable *variable)
{
    return variable->state == VARIABLE_ON && variable->fixed != system->solves;
}

static void begin(maxmin *system)
{
    system->component_variables.count = system->component_links.count = 0;
    for (int i = 0; i < system->variable_count; i++) {
        struct variable *variable = &system->variables[i];
        int weighs = 0;

        variable->is_marked = 0;
        if (variable->state != VARIABLE_ON)
            continue;
        for (int e = 0; e < variable->count; e++)
            weighs = weighs || variable->elements[e].weight > 0;
        variable->fresh = weighs ? 0 : 1;
        variable->step = 0;
        if (!weighs)
            variable->fixed = system->solves;
        numbers_push(&system->component_variables, i);
    }
    for (int i = 0; i < system->link_count; i++) {
        struct link *link = &system->links[i];

        link->is_marked = 0;
        link->left = link->capacity;
        if (link->count > 0)
            numbers_push(&system->component_links, i);
    }
    system->marked_links.count = system->marked_variables.count = 0;
}

static void offer(maxmin *system)
{
    struct numbers *links = &system->component_links;
    int kept = 0;

    for (int i = 0; i < links->count; i++) {
        struct link *link = &system->links[links->item[i]];
        int rising = 0;

        for (int u = 0; u < link->count; u++)
            rising += link->users[u].weight > 0 && is_in(system, &system->variables[link->users[u].variable]);
        link->usage = rising > 0 ? link->left / (link->is_fat_pipe ? 1 : rising) : 0;
        if (rising > 0)
            links->item[kept++] = links->item[i];
    }
    links->count = kept;
}

/* Let the variables rise by one step. Returns how many variables still rise. */
static int rise(maxmin *system)
{
    int rising = 0;

    for (int i = 0; i < system->component_variables.count; i++) {
        struct variable *variable = &system->variables[system->component_variables.item[i]];

        if (!is_in(system, variable))
            continue;
        variable->step = variable->bound - variable->fresh;
        for (int e = 0; e < variable->count; e++)
            if (variable->elements[e].weight > 0)
                variable->step =
                    fmin(variable->step, system->links[variable->elements[e].link].usage / variable->elements[e].weight);
        variable->fresh += variable->step;
        if (variable->fresh >= variable->bound)
            variable->fixed = system->solves;
        else
            rising++;
    }
    return rising;
}

static void take(const maxmin *system, struct link *link)
{
    double least = link->usage;

    for (int u = 0; u < link->count; u++) {
        double part = link->users[u].weight * system->variables[link->users[u].variable].step;

        if (!link->is_fat_pipe)
            link->left = link->left - part < PRECISION ? 0 : link->left - part;
        least = fmin(least, part);
    }
    if (link->is_fat_pipe)
        link->left = link->left - least < PRECISION ? 0 : link->left - least;
}

static void stop_at_full_links(maxmin *system)
{
    struct numbers *links = &system->component_links;
    int kept = 0;

    for (int i = 0; i < links->count; i++) {
        struct link *link = &system->links[links->item[i]];

        take(system, link);
        if (link->left > 0) {
            links->item[kept++] = links->item[i];
            continue;
        }
        for (int u = 0; u < link->count; u++)
            if (link->users[u].weight > 0)
                system->variables[link->users[u].variable].fixed = system->solves;
    }
    links->count = kept;
}

void maxmin_fill_bottlenecks(maxmin *system)
{
    begin(system);
    do {
        offer(system);
        if (rise(system) > 0)
            stop_at_full_links(system);
        else
            break;
    } while (system->component_links.count > 0);
    for (int i = 0; i < system->component_variables.count; i++)
        system->variables[system->component_variables.item[i]].fixed = system->solves;
}
