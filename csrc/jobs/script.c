/* The language of scripts. One command a line; a line that begins with `#` is a comment, so that the first can name the
 * interpreter.
 *
 *     ranks N                    the number of ranks; 1 if missing
 *     launch COMMAND WORD...     starts the ranks: this program, `rank`, a host and a port are appended; if missing, a child
 *                                is rank 0
 *     storage HOST PORT          a storage; storages are numbered from 0
 *     storage PATH               a storage that is a folder of every rank's host
 *     delay SECONDS              wait
 *     suspendable SECONDS        wait; time during which the job is suspended does not count
 *     run COMMAND                run a command of the shell on the first host
 *     stage FROM TO BYTES        copy bytes from one storage to another
 *     exit CODE                  end the script
 *     repeat N  ...  end
 *     task  ...  end             a parallel task: all at once, until all is done; R is a rank, or `*` for all ranks:
 *         cpu R FLOPS
 *         send R R BYTES         `*` as the second: all but the sender
 *         read R STORAGE BYTES
 *         write R STORAGE BYTES
 */
#include "job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64
#define DEPTH_MAX 64

/* The arguments of each command: d seconds, n a number, r a rank or `*`, s a storage, t the rest of the line as text. */
static const struct form {
    const char *name;
    enum verb verb;
    const char *arguments;
    bool in_task;
} forms[] = {
    {"delay", DELAY, "d", false},   {"suspendable", SUSPENDABLE, "d", false},
    {"run", COMMAND, "t", false},   {"repeat", REPEAT, "n", false},
    {"end", END, "", false},        {"task", TASK, "", false},
    {"stage", STAGE, "ssn", false}, {"exit", EXIT, "n", false},
    {"cpu", CPU, "rn", true},       {"send", SEND, "rrn", true},
    {"read", READ, "rsn", true},    {"write", WRITE, "rsn", true},
};

struct reader {
    struct script *script;
    const char *path;
    int number;
    int open[DEPTH_MAX]; /* indices of lines that wait for their end */
    int depth;
};

static _Noreturn void complain(const struct reader *reader, const char *what, const char *word)
{
    fail("%s:%d: %s%s%s", reader->path, reader->number, what, word ? ": " : "", word ? word : "");
}

static int64_t number(const struct reader *reader, const char *word)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(word, &end, 10);
    if (errno != 0 || *end != '\0' || end == word || *word == '-' || value > INT64_MAX)
        complain(reader, "expected a whole number", word);
    return (int64_t)value;
}

static int64_t duration_ns(const struct reader *reader, const char *word)
{
    char *end;
    double seconds = strtod(word, &end);

    if (*end != '\0' || end == word || !(seconds >= 0 && seconds < 9e9))
        complain(reader, "expected seconds", word);
    return (int64_t)(seconds * SECOND_NS + 0.5);
}

static int64_t index_below(const struct reader *reader, const char *word, int count, const char *what)
{
    int64_t value = number(reader, word);

    if (value >= count)
        complain(reader, what, word);
    return value;
}

static int64_t rank_of(const struct reader *reader, const char *word)
{
    return strcmp(word, "*") == 0 ? EVERY : index_below(reader, word, reader->script->rank_count, "no such rank");
}

static int64_t storage_of(const struct reader *reader, const char *word)
{
    return index_below(reader, word, reader->script->storage_count, "no such storage");
}

/* How the argument of each letter is read; `is_place`: a rank or a storage, else an amount. */
static const struct argument {
    char letter;
    bool is_place;
    int64_t (*read)(const struct reader *reader, const char *word);
} arguments[] = {
    {'d', false, duration_ns},
    {'n', false, number},
    {'r', true, rank_of},
    {'s', true, storage_of},
};

static void take_argument(const struct reader *reader, struct line *line, char letter, int at, const char *word)
{
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (arguments[i].letter != letter)
            continue;
        if (!arguments[i].is_place)
            line->amount = (uint64_t)arguments[i].read(reader, word);
        else if (at == 0)
            line->from = arguments[i].read(reader, word);
        else
            line->to = arguments[i].read(reader, word);
    }
}

/* Read the arguments of a command, by the command's form. */
static void take_arguments(const struct reader *reader, struct line *line, const struct form *form, char **words)
{
    for (int i = 0; form->arguments[i] != '\0' && form->arguments[i] != 't'; i++) {
        if (words[i] == NULL)
            complain(reader, "words are missing", form->name);
        take_argument(reader, line, form->arguments[i], i, words[i]);
    }
}

static void take_block(struct reader *reader, int at)
{
    struct line *lines = reader->script->lines;
    struct line *line = &lines[at];

    if (line->verb == REPEAT || line->verb == TASK) {
        if (reader->depth == DEPTH_MAX)
            complain(reader, "nested too deeply", NULL);
        reader->open[reader->depth++] = at;
    } else if (line->verb == END) {
        if (reader->depth == 0)
            complain(reader, "nothing to end here", NULL);
        line->end = reader->open[--reader->depth];
        lines[line->end].end = at;
    }
}

static bool is_in_task(const struct reader *reader)
{
    return reader->depth > 0 && reader->script->lines[reader->open[reader->depth - 1]].verb == TASK;
}

static const struct form *form_of(const struct reader *reader, const char *name)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i].name) == 0) {
            if (forms[i].verb != END && forms[i].in_task != is_in_task(reader))
                complain(reader, forms[i].in_task ? "only in a task" : "not in a task", name);
            return &forms[i];
        }
    complain(reader, "no such command", name);
}

static void set_launch(struct script *script, char **words)
{
    int count = 0;

    while (words[count] != NULL)
        count++;
    script->launch = allocate((size_t)count + 1, sizeof *script->launch);
    for (int i = 0; i < count; i++)
        script->launch[i] = strdup(words[i]);
}

/* Handle a line with a setting for the whole script; return false if the line is a command. */
static bool take_setting(struct reader *reader, char **words)
{
    struct script *script = reader->script;

    if (strcmp(words[0], "ranks") == 0 && words[1] != NULL) {
        script->rank_count = (int)number(reader, words[1]);
    } else if (strcmp(words[0], "launch") == 0 && words[1] != NULL) {
        set_launch(script, words + 1);
    } else if (strcmp(words[0], "storage") == 0 && words[1] != NULL && (words[2] != NULL || *words[1] == '/')) {
        script->storages = grow(script->storages, (size_t)script->storage_count + 1, sizeof *script->storages);
        script->storages[script->storage_count++] =
            *words[1] == '/' ? endpoint_of_path(words[1]) : endpoint_of(words[1], words[2]);
    } else {
        return false;
    }
    return true;
}

static void take_line(struct reader *reader, char *text)
{
    struct script *script = reader->script;
    struct line line = {.number = reader->number};
    const struct form *form;
    char *words[WORDS_MAX + 1] = {NULL};
    char *whole = strdup(text);
    char *state = NULL;

    for (int i = 0; i < WORDS_MAX && (words[i] = strtok_r(i == 0 ? text : NULL, " \t", &state)) != NULL; i++)
        ;
    if (words[0] == NULL || take_setting(reader, words)) {
        free(whole);
        return;
    }
    form = form_of(reader, words[0]);
    line.verb = form->verb;
    take_arguments(reader, &line, form, words + 1);
    line.text = whole + strspn(whole, " \t");
    if (form->verb == COMMAND)
        line.text += strlen(form->name);
    script->lines = grow(script->lines, (size_t)script->count + 1, sizeof *script->lines);
    script->lines[script->count++] = line;
    take_block(reader, script->count - 1);
}

void script_read(struct script *script, const char *path)
{
    struct reader reader = {.script = script, .path = path};
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t length;

    if (file == NULL)
        fail("%s: %m", path);
    script->rank_count = 1;
    while ((length = getline(&text, &room, file)) >= 0) {
        reader.number++;
        if (length > 0 && text[length - 1] == '\n')
            text[length - 1] = '\0';
        if (text[strspn(text, " \t")] != '#')
            take_line(&reader, text);
    }
    free(text);
    fclose(file);
    if (reader.depth > 0)
        complain(&reader, "the file ends before this is ended", script->lines[reader.open[reader.depth - 1]].text);
}
