/* Waiting, signals, growing buffers, and the agent's own descriptors.
 *
 * The descriptors 0, 1 and 2 are shared with whoever started us, so they are never made
 * non-blocking. Room that a poll has seen may be taken by the other stream or by somebody else, so
 * a write may still wait: a timer interrupts it, and we look at the clock and at the signals again.
 */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 4096 }; /* POSIX: a pipe that polls writable takes PIPE_BUF bytes at once */
enum { TURN = 50000 }; /* microseconds that a write waits before we look around */

static volatile sig_atomic_t told;
static const int ENDINGS[] = {SIGTERM, SIGHUP, SIGINT};
static sigset_t while_waiting;

int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

/* What we open must not become somebody's stdin or stdout. A closed stdout stays unwritable: its
 * stand-in is opened for reading, so that an answer is never lost without our noticing. */
void hold_standard_descriptors(void) {
    struct pollfd standard[] = {{.fd = 0}, {.fd = 1}, {.fd = 2}};
    if (poll(standard, 3, 0) <= 0)
        return;
    for (int number = 0; number < 3; number++)
        if (standard[number].revents & POLLNVAL && open("/dev/null", O_RDONLY) < 0)
            open("/", O_RDONLY);
}

static void on_ending(int number) {
    (void)number;
    told = 1;
}

/* Signals are blocked but for the moments in which we wait, so none falls between looking at the
 * flag and going to sleep. What our parent ignores, we ignore. Those that a failed write sends stay
 * blocked: errno says it, too, and we have an answer to that. */
void heed_signals(void) {
    struct sigaction noting = {.sa_handler = on_ending}, before;
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGPIPE);
    sigaddset(&blocked, SIGXFSZ);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++)
        sigaddset(&blocked, ENDINGS[i]);
    sigprocmask(SIG_BLOCK, &blocked, &while_waiting);
    sigaddset(&while_waiting, SIGPIPE);
    sigaddset(&while_waiting, SIGXFSZ);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        sigdelset(&while_waiting, ENDINGS[i]);
        if (sigaction(ENDINGS[i], &noting, &before) == 0 && before.sa_handler == SIG_IGN)
            sigaction(ENDINGS[i], &before, NULL);
    }
}

/* For a process we start: every signal as on a fresh login, whatever the agent had ignored. */
void forget_signals(void) {
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &standard, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

bool told_to_end(void) { return told; }

static int poll_until(struct pollfd *polled, nfds_t count, int64_t left) {
#ifdef __linux__
    struct timespec limit = {.tv_sec = left / SECOND, .tv_nsec = left % SECOND};
    return ppoll(polled, count, &limit, &while_waiting);
#else
    /* Without ppoll a signal may come just before we sleep: so we sleep in short turns. */
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, &while_waiting, &blocked);
    int turn = left > 50 * MILLISECOND ? 50 : (int)((left + MILLISECOND - 1) / MILLISECOND);
    int ready = told ? 0 : poll(polled, count, turn);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    return ready;
#endif
}

/* Looks once even when it is late already: what has arrived counts, however long we were stopped. */
enum waited wait_for(struct pollfd *polled, nfds_t count, int64_t until, bool heeding) {
    for (;;) {
        if (heeding && told)
            return TOLD_TO_END;
        int64_t left = until - now();
        int ready = poll_until(polled, count, left > 0 ? left : 0);
        if (ready > 0)
            return READY;
        if (ready < 0 && errno != EINTR && errno != EAGAIN)
            return BROKEN;
        if (left <= 0)
            return LATE;
    }
}

bool reserve(struct bytes *bytes, size_t more) {
    if (bytes->room - bytes->length >= more)
        return true;
    size_t room = bytes->room * 2;
    if (room - bytes->length < more)
        room = bytes->length + more;
    char *grown = realloc(bytes->allocated ? bytes->at : NULL, room);
    if (grown == NULL)
        return false;
    if (!bytes->allocated)
        memcpy(grown, bytes->at, bytes->length);
    *bytes = (struct bytes){grown, bytes->length, room, true};
    return true;
}

bool append(struct bytes *bytes, const void *from, size_t length) {
    if (!reserve(bytes, length))
        return false;
    memcpy(bytes->at + bytes->length, from, length);
    bytes->length += length;
    return true;
}

static void on_turn(int number) { (void)number; }

/* From now on no write waits for longer than a turn. It comes again and again: one that falls right
 * before a write interrupts nothing. An agent that blocks the signal has not us in mind. */
static void take_turns(void) {
    static const struct itimerval TURNS = {{.tv_usec = TURN}, {.tv_usec = TURN}};
    struct sigaction noting = {.sa_handler = on_turn};
    if (sigismember(&while_waiting, SIGALRM) == 1) {
        sigset_t turn;
        sigemptyset(&turn);
        sigaddset(&turn, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &turn, NULL);
        sigdelset(&while_waiting, SIGALRM);
    }
    sigaction(SIGALRM, &noting, NULL);
    setitimer(ITIMER_REAL, &TURNS, NULL);
}

/* Writes some of a stream; false when it can be written no more. */
static bool write_some(int number, const char **at, size_t *left, bool *in_vain) {
    ssize_t written = write(number, *at, *left < PIECE ? *left : PIECE);
    if (written < 0) {
        *in_vain = *in_vain || errno == EINTR;
        return errno == EAGAIN || errno == EINTR;
    }
    *at += written;
    *left -= (size_t)written;
    return true;
}

/* Lets in the signals that came while a write waited: where a stream always seems to have room, a
 * poll never waits for them. */
static void hear_signals(void) {
    sigset_t blocked;
    sigprocmask(SIG_SETMASK, &while_waiting, &blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
}

/* Both streams at once: an agent may read either to its end first. False when stdout, on which
 * agents act, could not be written to its end; stderr that nobody takes is no loss. Told to end, we
 * do not throw away an answer that we have, but do not wait long for its reader either. Nearly
 * every answer goes out at once, so there is no poll before; and without descriptors there can be
 * none. */
bool deliver(const struct answer *answer, int64_t until) {
    const char *at[] = {answer->out, answer->err};
    size_t left[] = {answer->out_length, answer->err_length};
    bool heeding = true, lost = false;
    struct pollfd streams[] = {{.revents = POLLOUT}, {.revents = POLLOUT}};
    if (left[0] > 0 || left[1] > 0)
        take_turns();
    for (;;) {
        bool in_vain = false;
        for (int i = 0; i < 2; i++)
            if (streams[i].revents && left[i] && !write_some(i + 1, &at[i], &left[i], &in_vain)) {
                lost = lost || i == 0;
                left[i] = 0;
            }
        if (left[0] == 0 && left[1] == 0)
            break;
        if (in_vain)
            hear_signals();
        for (int i = 0; i < 2; i++)
            streams[i] = (struct pollfd){.fd = left[i] ? i + 1 : -1, .events = POLLOUT};
        enum waited waited = wait_for(streams, 2, until, heeding);
        if (waited == TOLD_TO_END) {
            heeding = false;
            until = until < now() + GRACE ? until : now() + GRACE;
        } else if (waited != READY || now() >= until)
            break;
    }
    return !lost && left[0] == 0;
}

/* A line on stderr. */
void say(const char *text, int64_t until) {
    struct answer line = {.err = text, .err_length = strlen(text)};
    deliver(&line, until);
}
