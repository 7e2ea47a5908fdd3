/* hookline-client: what an agent starts for each event, and waits for.
 *
 *   hookline-client PYTHON hook DIALECT [EVENT] [options]
 *
 * It hands the event on and the answer back, byte for byte: to the daemon if one is there, else to
 * a process that it starts and that stays as the daemon; and when neither answers in time, it gives
 * the last answer itself. An agent whose own timeout hits lets the tool run, so ours comes first.
 */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/random.h>
#endif

enum { SPENT_DIGITS = 9, TIME_BYTES = 5 };

extern char **environ;

static char first_room[65536];
static char cwd_room[PATH_MAX];

/* As `hookline hook` reads it: the last of two equal options counts. */
static struct call understood(int argc, char **argv) {
    struct call call = {.python = argv[1], .words = argv + 2, .count = argc - 2};
    for (int i = 3; i < argc; i++) {
        const char *word = argv[i], **value = NULL;
        if (strcmp(word, "--home") == 0)
            value = &call.home;
        else if (strcmp(word, "--user-config") == 0)
            value = &call.user_config;
        else if (strcmp(word, "--config") == 0)
            value = &call.config;
        else if (strcmp(word, "--timeout") == 0)
            value = &call.timeout;
        else if (strcmp(word, "--trust-env") == 0)
            call.trust_env = true;
        else if (*word != '-' && call.dialect == NULL)
            call.dialect = word;
        else if (*word != '-' && call.event == NULL)
            call.event = word;
        if (value != NULL)
            *value = ++i < argc ? argv[i] : "";
    }
    return call;
}

/* How long everything may take: the platform's own limit, less what we need to speak first. */
static int64_t allowance(const char *timeout) {
    char *end = NULL;
    double seconds = timeout == NULL ? 0 : strtod(timeout, &end);
    if (end == timeout || !(seconds > 0) || seconds > 1e9)
        return 600 * SECOND;
    seconds = 0.9 * seconds - 0.5;
    return (int64_t)((seconds > 0.2 ? seconds : 0.2) * 1e9);
}

static void put_number(char *at, size_t number) {
    for (int shift = 24; shift >= 0; shift -= 8)
        *at++ = (char)(number >> shift);
}

static bool add_field(struct bytes *request, const char *from, size_t length) {
    char number[4];
    put_number(number, length);
    return length <= UINT32_MAX && append(request, number, 4) && append(request, from, length);
}

static bool add_count(struct bytes *request, size_t count) {
    char digits[24], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + count % 10);
    while (count /= 10);
    return add_field(request, at, (size_t)(digits + sizeof digits - at));
}

/* The same for every attempt on one event, so that what an event causes can be told from it. It
 * begins with the milliseconds of the clock: events of one time then stand side by side in the
 * journal's index, and to write one down changes no page that the one before did not. */
static bool add_event_id(struct bytes *request) {
    static const char DIGITS[] = "0123456789abcdef";
    unsigned char bytes[16], *random = bytes + TIME_BYTES;
    char id[2 * sizeof bytes];
    const ssize_t drawn = sizeof bytes - TIME_BYTES;
    struct timespec clock;
    ssize_t got = -1;
#ifdef __linux__
    got = getrandom(random, (size_t)drawn, 0);
#endif
    if (got != drawn) {
        int file = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
        if (file < 0)
            return false;
        got = read(file, random, (size_t)drawn);
        close(file);
    }
    clock_gettime(CLOCK_REALTIME, &clock);
    uint64_t moment = (uint64_t)clock.tv_sec * 1000 + (uint64_t)clock.tv_nsec / MILLISECOND;
    for (int i = TIME_BYTES; i-- > 0; moment >>= 8)
        bytes[i] = (unsigned char)moment;
    for (size_t i = 0; i < sizeof bytes; i++) {
        id[2 * i] = DIGITS[bytes[i] >> 4];
        id[2 * i + 1] = DIGITS[bytes[i] & 15];
    }
    return got == drawn && add_field(request, id, sizeof id);
}

/* How many milliseconds have gone since we began, always in as many digits: whoever answers takes
 * them off the time that there is. */
static void put_spent(char *at, int64_t started) {
    int64_t spent = (now() - started) / MILLISECOND;
    if (spent > 999999999)
        spent = 999999999;
    for (char *digit = at + SPENT_DIGITS; digit > at; spent /= 10)
        *--digit = (char)('0' + spent % 10);
}

/* All of a request but its payload. `attempt` is where the number of the attempt stands, right
 * before the time spent. */
static const char *begin(struct bytes *request, const struct call *call, const char *cwd,
                         size_t *attempt) {
    size_t count = 0;
    while (environ[count] != NULL)
        count++;
    bool fits = append(request, "HKL1\0\0\0\0", 8) &&
                add_field(request, HOOKLINE_VERSION, sizeof HOOKLINE_VERSION - 1);
    if (!add_event_id(request))
        return "there is no source of random numbers";
    *attempt = request->length + 4;
    mode_t mask = umask(077);
    fits = fits && add_field(request, "1", 1) && add_field(request, "000000000", SPENT_DIGITS) &&
           add_field(request, cwd, strlen(cwd)) && add_count(request, mask) && add_count(request, (size_t)call->count);
    for (int i = 0; fits && i < call->count; i++)
        fits = add_field(request, call->words[i], strlen(call->words[i]));
    fits = fits && add_count(request, count);
    for (size_t i = 0; fits && i < count; i++)
        fits = add_field(request, environ[i], strlen(environ[i]));
    return fits ? NULL : "there is not enough memory for the event";
}

/* Reads the payload to its end, right behind what is there, so that all goes out in one piece. */
static const char *finish(struct bytes *request, int64_t deadline) {
    size_t length_at = request->length;
    if (!append(request, "\0\0\0\0", 4))
        return "there is not enough memory for the event";
    for (;;) {
        struct pollfd in = {.fd = 0, .events = POLLIN};
        if (!reserve(request, 16384) || request->length > UINT32_MAX)
            return "the payload is too large";
        enum waited waited = wait_for(&in, 1, deadline, true);
        if (waited != READY || now() >= deadline)
            return waited == TOLD_TO_END ? "it was told to end before the payload was complete"
                                         : "the payload did not come to its end in time";
        ssize_t got = read(0, request->at + request->length, request->room - request->length);
        if (got == 0)
            break;
        if (got > 0)
            request->length += (size_t)got;
        else if (errno != EAGAIN && errno != EINTR)
            return "the payload cannot be read";
    }
    if (request->length - 8 > UINT32_MAX)
        return "the payload is too large";
    put_number(request->at + length_at, request->length - length_at - 4);
    put_number(request->at + 4, request->length - 8);
    return NULL;
}

static bool stays_in_process(void) {
    const char *value = getenv("HOOKLINE_NO_DAEMON");
    return value != NULL && strcmp(value, "1") == 0;
}

/* NULL, or why there is no answer. */
static const char *ask(const struct call *call, const char *cwd, int64_t started,
                       int64_t deadline, struct answer *answer) {
    struct bytes request = {first_room, 0, sizeof first_room, false};
    size_t attempt = 0;
    bool may_have_run = false;
    const char *why = begin(&request, call, cwd, &attempt);
    if (why == NULL)
        why = finish(&request, deadline);
    if (why != NULL)
        return why;
    char *spent = request.at + attempt + 1 + 4;
    bool once = stays_in_process();
    if (!once) {
        put_spent(spent, started);
        why = ask_daemon(call, &request, deadline, answer, &may_have_run);
        if (why == NULL || told_to_end() || now() >= deadline)
            return why;
    }
    if (may_have_run)
        request.at[attempt] = '2';
    put_spent(spent, started);
    return ask_new_process(call, &request, once, deadline, answer);
}

/* Where we are; NULL when nobody can say it. A directory that was removed under us has no name any
 * more, but the one that it had still tells whose project this is. */
static const char *directory(bool *gone) {
    static const char GONE[] = " (deleted)"; /* what Linux puts behind it */
    const char *cwd = getcwd(cwd_room, sizeof cwd_room);
    if (cwd == NULL && errno == ERANGE)
        cwd = getcwd(NULL, 0);
    *gone = cwd == NULL;
    if (cwd != NULL)
        return cwd;
    ssize_t length = readlink("/proc/self/cwd", cwd_room, sizeof cwd_room - 1);
    struct stat found;
    if (length < (ssize_t)sizeof GONE || *cwd_room != '/')
        return NULL;
    if (lstat(".", &found) != 0 || found.st_nlink != 0)
        return NULL; /* it is still there, and may be called so, in a place that has no name */
    char *end = cwd_room + length - (sizeof GONE - 1);
    cwd_room[length] = 0;
    if (strcmp(end, GONE) != 0)
        return NULL;
    *end = 0;
    return cwd_room;
}

/* The answer, and its exit code when it arrived. When it did not, only the exit code is left: 2
 * closes a gate, and where it would keep the agent going instead, 1 has no effect. */
static int hand_over(const struct call *call, const struct answer *answer, int64_t until) {
    if (deliver(answer, until))
        return answer->code;
    /* Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty. */
    say("hookline: the answer could not be written to stdout\n", now() + GRACE);
    return closes_by_exit_code(call) ? 2 : 1;
}

int main(int argc, char **argv) {
    int64_t started = now();
    hold_standard_descriptors();
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        struct answer version = {.out = HOOKLINE_VERSION "\n",
                                 .out_length = sizeof HOOKLINE_VERSION};
        return deliver(&version, started + SECOND) ? 0 : 1;
    }
    if (argc < 3 || strcmp(argv[2], "hook") != 0) {
        say("usage: hookline-client PYTHON hook DIALECT [EVENT] [options]\n", started + SECOND);
        return 64;
    }
    heed_signals();
    struct call call = understood(argc, argv);
    int64_t deadline = started + allowance(call.timeout);
    bool gone;
    const char *cwd = directory(&gone);
    struct answer answer;
    /* With no directory at all it is for the event to say where it happened. */
    const char *why = ask(&call, cwd == NULL ? "" : cwd, started, deadline, &answer);
    if (why == NULL)
        return hand_over(&call, &answer, deadline);
    last_answer(&call, gone ? NULL : cwd, &answer);
    int64_t grace = now() + GRACE;
    int code = hand_over(&call, &answer, grace);
    bool ended = answer.err_length > 0 && answer.err[answer.err_length - 1] == '\n';
    say(ended ? "hookline-client: " : "\nhookline-client: ", grace);
    say(why, grace);
    say("\n", grace);
    return code;
}
