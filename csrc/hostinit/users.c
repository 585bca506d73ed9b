/* Users and groups. For another root file system, this code reads the files of that root itself, since libc's look-up
 * would load modules from the root. */
#define _GNU_SOURCE
#include "hostinit.h"

#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 256

static bool has_name(const struct passwd *entry, const char *name, long number)
{
    return number < 0 ? strcmp(entry->pw_name, name) == 0 : (long)entry->pw_uid == number;
}

/* Return the user with a number that no file lists, in the group with that number; NULL for a name. */
static const struct passwd *unlisted(const char *name, long number)
{
    static struct passwd entry;

    entry = (struct passwd){.pw_name = (char *)name, .pw_uid = (uid_t)number, .pw_gid = (gid_t)number};
    return number < 0 ? NULL : &entry;
}

/* Return the user with a name or number; NULL if there is none. The result is valid until the next call. */
const struct passwd *user_find(const char *name)
{
    bool is_number = name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
    long number = is_number ? strtol(name, NULL, 10) : -1;
    const struct passwd *entry = NULL;
    FILE *list;

    if (!root_is_entered()) {
        entry = is_number ? getpwuid((uid_t)number) : getpwnam(name);
        return entry != NULL ? entry : unlisted(name, number);
    }
    list = fopen("/etc/passwd", "re");
    if (list == NULL)
        return unlisted(name, number);
    while ((entry = fgetpwent(list)) != NULL && !has_name(entry, name, number))
        ;
    fclose(list);
    return entry != NULL ? entry : unlisted(name, number);
}

static bool is_member(const struct group *group, const char *name)
{
    for (char **member = group->gr_mem; *member != NULL; member++)
        if (strcmp(*member, name) == 0)
            return true;
    return false;
}

/* Join the user's own group and all groups that list the user as a member. */
bool user_join_groups(const struct passwd *user)
{
    gid_t groups[GROUPS_MAX] = {user->pw_gid};
    size_t count = 1;
    const struct group *group;
    FILE *list;

    if (!root_is_entered())
        return initgroups(user->pw_name, user->pw_gid) == 0;
    list = fopen("/etc/group", "re");
    while (list != NULL && count < GROUPS_MAX && (group = fgetgrent(list)) != NULL)
        if (group->gr_gid != user->pw_gid && is_member(group, user->pw_name))
            groups[count++] = group->gr_gid;
    if (list != NULL)
        fclose(list);
    return setgroups(count, groups) == 0;
}
