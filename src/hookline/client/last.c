/* What is said when none of our programs gave an answer: a gate closes, and nothing is pretended.
 *
 * The words are each platform's own, generated from the encoders. Only where nothing at all is
 * configured is there nothing to guard; whatever we cannot look at counts as configured.
 */
#define _GNU_SOURCE
#include "client.h"
#include "last_answers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __APPLE__
#include <pwd.h>
#endif

static const char UNCONFIGURED[] = "hookline: none of its programs gave an answer; nothing is "
                                   "configured here, so nothing was blocked. "
                                   "`hookline doctor` says what to fix.\n";
static const char NOBODYS[] = "hookline: " LAST_REASON "\n";

/* The row of an event; the dialect's row without a name for one it does not know. */
static const struct last *row_of(const char *dialect, const char *event) {
    const struct last *general = NULL;
    if (dialect == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof LAST / sizeof *LAST; i++) {
        if (strcmp(LAST[i].dialect, dialect) != 0)
            continue;
        if (*LAST[i].event == 0)
            general = &LAST[i];
        else if (event != NULL && strcmp(LAST[i].event, event) == 0)
            return &LAST[i];
    }
    return general;
}

bool closes_by_exit_code(const struct call *call) {
    const struct last *row = row_of(call->dialect, call->event);
    return row == NULL || row->closes;
}

#ifdef __APPLE__
bool home_of_user(char *into, size_t room) {
    const struct passwd *user = getpwuid(getuid());
    if (user == NULL || strlen(user->pw_dir) >= room)
        return false;
    strcpy(into, user->pw_dir);
    return true;
}
#else
/* The sixth field of the line in /etc/passwd whose third is `uid`. Asking the C library instead
 * would load its plugins, which a static program cannot. */
static bool home_in(char *line, char *into, size_t room) {
    char *fields[7];
    for (int i = 0; i < 7; i++) {
        fields[i] = line;
        line = strchr(line, ':');
        if (line == NULL && i < 6)
            return false;
        if (line != NULL)
            *line++ = 0;
    }
    char *end;
    unsigned long number = strtoul(fields[2], &end, 10);
    if (end == fields[2] || *end || number != getuid() || *fields[5] != '/' ||
        strlen(fields[5]) >= room)
        return false;
    strcpy(into, fields[5]);
    return true;
}

bool home_of_user(char *into, size_t room) {
    char text[4096];
    size_t kept = 0;
    bool found = false;
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    for (ssize_t got; !found && (got = read(file, text + kept, sizeof text - 1 - kept)) > 0;) {
        char *line = text, *end;
        kept += (size_t)got;
        text[kept] = 0;
        for (; !found && (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = 0;
            found = home_in(line, into, room);
        }
        kept -= (size_t)(line - text);
        memmove(text, line, kept);
        if (kept == sizeof text - 1)
            break; /* no line is that long */
    }
    close(file);
    return found;
}
#endif

/* Whether something is there, or may be. */
static bool may_exist(const char *directory, size_t length, const char *name) {
    char path[PATH_MAX];
    struct stat found;
    size_t named = strlen(name);
    if (length + named + 1 > sizeof path)
        return true;
    memcpy(path, directory, length);
    memcpy(path + length, name, named + 1);
    return lstat(path, &found) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static bool may_hold_something(const char *directory, const char *name) {
    char path[PATH_MAX];
    const struct dirent *entry;
    bool something = false;
    if (strlen(directory) + strlen(name) + 1 > sizeof path)
        return true;
    strcpy(path, directory);
    strcat(path, name);
    DIR *opened = opendir(path);
    if (opened == NULL)
        return errno != ENOENT;
    errno = 0;
    while (!something && (entry = readdir(opened)) != NULL)
        something = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    something |= errno != 0;
    closedir(opened);
    return something;
}

static bool project_may_have_config(const char *cwd) {
    if (cwd == NULL || *cwd != '/')
        return true;
    for (size_t length = strlen(cwd);; length--) {
        if (may_exist(cwd, length, "/hookline.yaml") ||
            may_exist(cwd, length, "/.hookline/hookline.yaml"))
            return true;
        while (length > 0 && cwd[length - 1] != '/')
            length--;
        if (length == 0)
            return false;
    }
}

static bool may_be_configured(const struct call *call, const char *cwd) {
    char person[PATH_MAX];
    const char *user = call->user_config, *home = call->home;
    /* A config that was named is meant, and an environment that is believed may name more. */
    if (call->config != NULL || call->trust_env || may_exist("/etc/hookline", 13, "/hookline.yaml"))
        return true;
    /* What is no whole path leads from a directory that we may have left. */
    if (home != NULL && *home != '/')
        return true;
    bool known = home_of_user(person, sizeof person - 32);
    size_t length = known ? strlen(person) : 0;
    if (user != NULL && *user == '/') {
        if (may_exist(user, strlen(user), "/hookline/hookline.yaml"))
            return true;
    } else if (!known || may_exist(person, length, "/.config/hookline/hookline.yaml"))
        return true;
    if (home != NULL) {
        if (may_hold_something(home, "/trust"))
            return true;
    } else if (!known || may_hold_something(person, "/.local/state/hookline/trust"))
        return true;
    return project_may_have_config(cwd);
}

static void use(struct answer *answer, const char *out, const char *err, int code) {
    *answer = (struct answer){out, err, strlen(out), strlen(err), code};
}

void last_answer(const struct call *call, const char *cwd, struct answer *answer) {
    const struct last *row = row_of(call->dialect, call->event);
    if (!may_be_configured(call, cwd))
        use(answer, row ? TEXTS[row->pass] : "", UNCONFIGURED, 0);
    else if (row == NULL)
        /* Nobody knows who is calling: 2 blocks wherever an exit code does. */
        use(answer, "", NOBODYS, 2);
    else
        use(answer, TEXTS[row->out], TEXTS[row->err], row->code);
}
