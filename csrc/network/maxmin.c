/* The system of links and variables: which variables are on, and what has changed since the last solve (maxmin_solve.c). */
#include "maxmin_parts.h"

#include <math.h>
#include <string.h>

#define SUM_AGAIN 256 /* after so many updates, a sum of floating point numbers is computed anew */

maxmin *maxmin_new(void)
{
    maxmin *system = allocate(NULL, 1, sizeof *system);

    memset(system, 0, sizeof *system);
    return system;
}

void maxmin_free(maxmin *system)
{
    struct numbers *lists[] = {&system->free_variables,   &system->staged,          &system->marked_links,
                               &system->marked_variables, &system->component_links, &system->component_variables,
                               &system->changed};

    for (int i = 0; i < system->link_count; i++)
        free(system->links[i].users);
    for (int i = 0; i < system->variable_count; i++)
        free(system->variables[i].elements);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]->item);
    free(system->links);
    free(system->variables);
    free(system->heap);
    free(system);
}

void maxmin_share_bottlenecks(maxmin *system)
{
    system->shares_bottlenecks = 1;
}

/* Links */

int maxmin_add_link(maxmin *system, double capacity, int is_fat_pipe, int concurrency)
{
    system->links = make_room(system->links, system->link_count, &system->link_room, sizeof *system->links);
    system->links[system->link_count] =
        (struct link){.capacity = capacity, .is_fat_pipe = is_fat_pipe, .concurrency = concurrency};
    return system->link_count++;
}

int maxmin_user(const maxmin *system, int link, int place)
{
    return place < system->links[link].count ? system->links[link].users[place].variable : -1;
}

double maxmin_load(const maxmin *system, int link)
{
    const struct link *of = &system->links[link];
    double load = 0;

    for (int i = 0; i < of->count; i++) {
        double part = of->users[i].weight * system->variables[of->users[i].variable].rate;

        load = of->is_fat_pipe ? fmax(load, part) : load + part;
    }
    return load;
}

static void mark_link(maxmin *system, int number)
{
    struct link *link = &system->links[number];

    if (!link->is_marked) {
        link->is_marked = 1;
        numbers_push(&system->marked_links, number);
    }
}

static void mark_variable(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];

    if (!variable->is_marked) {
        variable->is_marked = 1;
        numbers_push(&system->marked_variables, number);
    }
}

/* Mark the variables that this variable's links limit, since these links may not limit them any more. */
static void mark_neighbours(maxmin *system, const struct variable *variable)
{
    for (int i = 0; i < variable->count; i++)
        if (holds_back(&system->links[variable->elements[i].link]))
            mark_link(system, variable->elements[i].link);
}

static void change_demand(maxmin *system, struct link *link, double difference)
{
    link->demand += difference;
    if (++link->updates < SUM_AGAIN && link->count > 0)
        return;
    link->updates = 0;
    link->demand = 0;
    for (int i = 0; i < link->count; i++)
        link->demand += link->users[i].weight * system->variables[link->users[i].variable].limit;
}

/* Variables */

static double limit_of(const maxmin *system, const struct variable *variable)
{
    double limit = variable->bound;

    for (int i = 0; i < variable->count; i++)
        limit = fmin(limit, system->links[variable->elements[i].link].capacity / variable->elements[i].weight);
    return limit;
}

static void use_limit(maxmin *system, struct variable *variable, double limit)
{
    double difference = limit - variable->limit;

    variable->limit = limit;
    if (variable->state == VARIABLE_ON && difference != 0)
        for (int i = 0; i < variable->count; i++)
            change_demand(system, &system->links[variable->elements[i].link], variable->elements[i].weight * difference);
}

int maxmin_add(maxmin *system, int count, const int *links, const double *weights, double penalty, double bound)
{
    int number;
    struct variable *variable;

    if (system->free_variables.count > 0) {
        number = system->free_variables.item[--system->free_variables.count];
    } else {
        number = system->variable_count++;
        system->variables = make_room(system->variables, number, &system->variable_room, sizeof *system->variables);
    }
    variable = &system->variables[number];
    *variable = (struct variable){.state = VARIABLE_OFF, .share = 1 / penalty, .bound = bound, .count = count};
    variable->elements = allocate(NULL, (size_t)count, sizeof *variable->elements);
    for (int i = 0; i < count; i++)
        variable->elements[i] = (struct element){.weight = weights[i], .link = links[i]};
    variable->limit = limit_of(system, variable);
    return number;
}

void maxmin_set_terms(maxmin *system, int number, double penalty, double bound)
{
    struct variable *variable = &system->variables[number];

    if (variable->state == VARIABLE_ON) {
        mark_neighbours(system, variable);
        mark_variable(system, number);
    }
    variable->share = 1 / penalty;
    variable->bound = bound;
    use_limit(system, variable, limit_of(system, variable));
}

void maxmin_set_capacity(maxmin *system, int number, double capacity)
{
    struct link *link = &system->links[number];

    link->capacity = capacity;
    mark_link(system, number);
    for (int i = 0; i < link->count; i++) {
        struct variable *variable = &system->variables[link->users[i].variable];

        mark_neighbours(system, variable);
        use_limit(system, variable, limit_of(system, variable));
    }
}

double maxmin_rate(const maxmin *system, int variable)
{
    return system->variables[variable].rate;
}

/* Variables on and off */

static int fits(const maxmin *system, const struct variable *variable)
{
    for (int i = 0; i < variable->count; i++) {
        const struct link *link = &system->links[variable->elements[i].link];

        if (link->concurrency >= 0 && variable->elements[i].weight >= 1 && link->occupied >= link->concurrency)
            return 0;
    }
    return 1;
}

static void enter_links(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];

    variable->state = VARIABLE_ON;
    variable->limit = limit_of(system, variable);
    for (int i = 0; i < variable->count; i++) {
        struct element *element = &variable->elements[i];
        struct link *link = &system->links[element->link];

        link->users = make_room(link->users, link->count, &link->room, sizeof *link->users);
        element->place = link->count++;
        link->users[element->place] = (struct user){element->weight, number, i};
        link->occupied += element->weight >= 1;
        change_demand(system, link, element->weight * variable->limit);
    }
    mark_variable(system, number);
}

static void leave_links(maxmin *system, struct variable *variable)
{
    for (int i = 0; i < variable->count; i++) {
        struct element *element = &variable->elements[i];
        struct link *link = &system->links[element->link];
        struct user *last = &link->users[--link->count];

        link->users[element->place] = *last;
        system->variables[last->variable].elements[last->element].place = element->place;
        link->occupied -= element->weight >= 1;
        change_demand(system, link, -element->weight * variable->limit);
    }
}

void maxmin_switch_on(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];

    if (variable->state != VARIABLE_OFF)
        return;
    if (fits(system, variable)) {
        enter_links(system, number);
    } else {
        variable->state = VARIABLE_STAGED;
        numbers_push(&system->staged, number);
    }
}

/* Switch staged variables on in the order in which they came. A variable that does not fit yet does not prevent later
 * ones from being switched on. */
static void admit_staged(maxmin *system)
{
    int kept = 0;

    for (int i = 0; i < system->staged.count; i++) {
        int number = system->staged.item[i];

        if (system->variables[number].state != VARIABLE_STAGED)
            continue;
        if (fits(system, &system->variables[number]))
            enter_links(system, number);
        else
            system->staged.item[kept++] = number;
    }
    system->staged.count = kept;
}

void maxmin_switch_off(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];
    enum variable_state before = variable->state;

    if (before == VARIABLE_ON) {
        mark_neighbours(system, variable);
        leave_links(system, variable);
    }
    variable->state = VARIABLE_OFF;
    variable->rate = 0;
    if (system->staged.count > 0)
        admit_staged(system);
}

void maxmin_remove(maxmin *system, int number)
{
    struct variable *variable = &system->variables[number];

    maxmin_switch_off(system, number);
    free(variable->elements);
    variable->elements = NULL;
    variable->count = 0;
    variable->state = VARIABLE_FREE;
    numbers_push(&system->free_variables, number);
}
