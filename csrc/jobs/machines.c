/* Sends requests to switch hosts; rsg_server/handlers/machines.py lists the words of a request. Hosts that do not fit
 * into one request go into several requests, in their order: requests of one moment are carried out in the order in
 * which they are made. */
#include "job.h"
#include "shared/prctl_options.h"

#include <string.h>
#include <sys/prctl.h>

#define ROOM 4096
#define LONGEST 3500 /* a request */

static void ask(char *text)
{
    int length = prctl(PR_SIMUNIX_MACHINES, text, (size_t)ROOM - 1);

    if (length < 0 && text[0] == '!')
        fail("%.*s", ROOM, text + 2);
    if (length < 0)
        fail("the machine room can be asked on an emulated host only: %m");
    if (length > 0)
        printf("%.*s\n", length, text);
}

/* Run the program. The first word is the request, or all words up to `--` are; the others are hosts. */
int run_machines(char **words)
{
    char head[256] = "", text[ROOM] = "";
    int verbs = 1;

    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], "--") == 0)
            verbs = i;
    for (int i = 0; i < verbs && words[i] != NULL; i++)
        snprintf(head + strlen(head), sizeof head - strlen(head), "%s%s", i > 0 ? " " : "", words[i]);
    words += verbs;
    if (*words != NULL && strcmp(*words, "--") == 0)
        words++;
    strcpy(text, head);
    for (; *words != NULL; words++) {
        if (strlen(*words) > LONGEST / 2)
            fail("a host's name of %zu bytes is too long", strlen(*words));
        if (strlen(text) + 1 + strlen(*words) > LONGEST) {
            ask(text);
            memset(text, 0, sizeof text);
            strcpy(text, head);
        }
        strcat(strcat(text, " "), *words);
    }
    ask(text);
    return 0;
}
