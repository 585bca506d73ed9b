/* What the bus knows at its start: the units whose folders are there. A scope that has been abandoned outlives the bus that
 * made it, so that a host on which such scopes are all that is left has no bus. Empty scopes have ended meanwhile. */
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
