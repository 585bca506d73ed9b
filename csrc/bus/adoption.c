/* Finds the units that exist when the bus starts, by their folders. An abandoned scope outlives the bus that has made
 * it: a host on which only such scopes are left has no bus. Scopes without processes have ended while no bus was there. */
#include "bus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void adopt(const char *group, int unused)
{
    const char *name = strrchr(group, '/') + 1;

    (void)unused;
    if (name_is(name, ".slice")) {
        slice_ensure(name);
        cgroup_for_each_below(group, adopt, 0);
    } else if (name_is(name, ".scope") && cgroup_is_populated(group))
        unit_adopt(name, group);
    else if (name_is(name, ".scope"))
        cgroup_remove(group);
}

void units_adopt(void)
{
    cgroup_for_each_below("/", adopt, 0);
}
