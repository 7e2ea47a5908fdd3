/* The wire: one request to the daemon, or to a process started for it, and the answer back.
 *
 * A daemon is used only if nobody else can have put it there: its directory is ours alone, and so
 * is the process behind the socket. What it sends counts only when it is complete.
 */
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef SOCK_CLOEXEC /* everything of ours is closed in the child by hand, too */
#define SOCK_CLOEXEC 0
#define SOCK_NONBLOCK 0
#endif
#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0 /* SIGPIPE is blocked anyway */
#endif

#define ACKNOWLEDGED_IN (250 * MILLISECOND)
#define SILENT_FOR (2 * SECOND)

/* Where one conversation stands. */
struct talk {
    int socket;
    const struct bytes *request;
    size_t sent;
    bool deaf; /* the other side takes no more; it may still have something to say */
    bool acknowledged;
    struct bytes heard;
    size_t understood;
};

static char first_room[16384];

static uint32_t number_at(const char *at, int width) {
    uint32_t number = 0;
    for (int i = 0; i < width; i++)
        number = number << 8 | (unsigned char)at[i];
    return number;
}

/* 1: the answer is complete. 0: more has to come. -1: `why` says that none will. */
static int understand(struct talk *talk, struct answer *answer, const char **why, bool *refused) {
    struct bytes *heard = &talk->heard;
    while (talk->understood < heard->length) {
        const char *at = heard->at + talk->understood;
        size_t there = heard->length - talk->understood;
        switch (*at) {
        case 'A':
            talk->acknowledged = true;
            talk->understood++;
            break;
        case 'K':
            talk->understood++;
            break;
        case 'V':
        case 'B':
            if (there < 3 || there - 3 < number_at(at + 1, 2))
                return 0;
            *refused = true;
            *why = *at == 'V' ? "the daemon is of another version" : "the daemon is busy";
            return -1;
        case 'R':
            if (there < 10)
                return 0;
            answer->code = (unsigned char)at[1];
            answer->out_length = number_at(at + 2, 4);
            answer->err_length = number_at(at + 6, 4);
            if (there - 10 < (uint64_t)answer->out_length + answer->err_length)
                return 0;
            answer->out = at + 10;
            answer->err = answer->out + answer->out_length;
            return 1;
        default:
            *why = "what came back is not the protocol";
            return -1;
        }
    }
    heard->length = talk->understood = 0;
    return 0;
}

static void send_some(struct talk *talk) {
    while (!talk->deaf && talk->sent < talk->request->length) {
        ssize_t sent = send(talk->socket, talk->request->at + talk->sent,
                            talk->request->length - talk->sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0)
            talk->sent += (size_t)sent;
        else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS)
            return;
        else if (errno != EINTR)
            talk->deaf = true;
    }
}

/* NULL when something was heard, else why nothing more will be. */
static const char *hear_some(struct talk *talk) {
    if (!reserve(&talk->heard, 4096))
        return "there is not enough memory for the answer";
    ssize_t got = recv(talk->socket, talk->heard.at + talk->heard.length,
                       talk->heard.room - talk->heard.length, MSG_DONTWAIT);
    if (got > 0)
        talk->heard.length += (size_t)got;
    else if (got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
        return "the process that was asked ended without an answer";
    return NULL;
}

static const char *converse(struct talk *talk, int64_t deadline, int64_t acknowledged_by,
                            int64_t silent_for, struct answer *answer, bool *refused) {
    const char *why = NULL;
    int64_t patience = acknowledged_by;
    send_some(talk);
    for (;;) {
        bool sending = !talk->deaf && talk->sent < talk->request->length;
        struct pollfd polled = {talk->socket, (short)(POLLIN | (sending ? POLLOUT : 0)), 0};
        int64_t until = patience < deadline ? patience : deadline;
        switch (wait_for(&polled, 1, until, true)) {
        case READY:
            break;
        case TOLD_TO_END:
            return "it was told to end before there was an answer";
        case LATE:
            return until == deadline ? "the time that it had is over"
                                     : "the daemon was silent for too long";
        default:
            return "waiting for an answer is not possible here";
        }
        if (polled.revents & POLLOUT)
            send_some(talk);
        if (polled.revents & ~POLLOUT) {
            why = hear_some(talk);
            int step = understand(talk, answer, &why, refused);
            if (step > 0)
                return NULL;
            if (why)
                return why;
            if (talk->acknowledged)
                patience = now() + silent_for;
        }
        if (now() >= deadline)
            return "the time that it had is over";
    }
}

/* The decimal digits of a number, put before `end`. */
static char *digits_before(char *end, uint64_t number) {
    *--end = 0;
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

/* FNV-1a: it only has to tell things apart, not to withstand anyone. */
static uint64_t mixed(uint64_t key, const char *text) {
    for (; *text; text++)
        key = (key ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return key;
}

/* Home, version, and the namespace that we see our files in, if the system has such: in a
 * container the same names may be other files, and its daemon must not judge for us. */
static uint64_t key_of(const char *home) {
    char room[24], *mounts = room;
    struct stat found;
    room[0] = 0;
    if (stat("/proc/self/ns/mnt", &found) == 0)
        mounts = digits_before(room + sizeof room, found.st_ino);
    uint64_t key = mixed(UINT64_C(0xcbf29ce484222325), home);
    key = mixed(key * UINT64_C(0x100000001b3), HOOKLINE_VERSION); /* the NUL between them */
    return mixed(key * UINT64_C(0x100000001b3), mounts);
}

static bool is_ours_alone(const struct stat *found) {
    return S_ISDIR(found->st_mode) && found->st_uid == getuid() && (found->st_mode & 07777) == 0700;
}

static char *put(char *at, const char *text) {
    while (*text)
        *at++ = *text++;
    return at;
}

/* The directory of the socket; the environment is not asked, since a repository may set it. */
static bool run_directory(const char *home, char *path, size_t room) {
    static const char DIGITS[] = "0123456789abcdef";
    struct stat found;
    char number[24];
    if (strlen(home) + 32 > room)
        return false;
    char *end = put(put(path, "/run/user/"), digits_before(number + sizeof number, getuid()));
    *end = 0;
    if (lstat(path, &found) == 0 && is_ours_alone(&found))
        end = put(end, "/hookline-");
    else
        end = put(put(path, home), "/run-");
    uint64_t key = key_of(home);
    for (int shift = 60; shift >= 0; shift -= 4)
        *end++ = DIGITS[key >> shift & 15];
    *end = 0;
    return true;
}

static bool peer_is_us(int socket) {
#ifdef SO_PEERCRED
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
           peer.uid == getuid();
#else
    uid_t user;
    gid_t group;
    return getpeereid(socket, &user, &group) == 0 && user == getuid();
#endif
}

/* We go into the checked directory and name the socket from there: so it is that directory's,
 * whatever becomes of the path, and a long home does not make the name too long. */
static int dial(const char *home, int64_t until) {
    static const struct sockaddr_un NAME = {.sun_family = AF_UNIX, .sun_path = "daemon.sock"};
    char path[PATH_MAX];
    struct stat found;
    if (!run_directory(home, path, sizeof path))
        return -1;
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return -1;
    if (fstat(directory, &found) != 0 || !is_ours_alone(&found) || fchdir(directory) != 0) {
        close(directory);
        return -1;
    }
    close(directory);
    int dialled = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (dialled < 0)
        return -1;
    while (connect(dialled, (const struct sockaddr *)&NAME, sizeof NAME) != 0) {
        /* A full queue cannot be waited for, only tried again. */
        bool full = errno == EAGAIN || errno == EINTR;
        int64_t next = now() + 5 * MILLISECOND;
        if (!full || next > until || wait_for(NULL, 0, next, true) != LATE) {
            close(dialled);
            return -1;
        }
    }
    if (!peer_is_us(dialled)) {
        close(dialled);
        return -1;
    }
    return dialled;
}

const char *ask_daemon(const struct call *call, const struct bytes *request, int64_t deadline,
                       struct answer *answer, bool *may_have_run) {
    int64_t acknowledged_by = now() + ACKNOWLEDGED_IN;
    bool refused = false;
    int64_t until = acknowledged_by < deadline ? acknowledged_by : deadline;
    if (call->home == NULL || *call->home != '/')
        return "without --home there is no daemon";
    struct talk talk = {.socket = dial(call->home, until),
                        .request = request,
                        .heard = {first_room, 0, sizeof first_room, false}};
    if (talk.socket < 0)
        return "no daemon is running";
    const char *why =
        converse(&talk, deadline, acknowledged_by, SILENT_FOR, answer, &refused);
    *may_have_run = !refused;
    if (why) {
        close(talk.socket);
        if (talk.heard.allocated)
            free(talk.heard.at);
    }
    return why;
}

static void close_all_others(void) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0)
        return;
#endif
    long limit = sysconf(_SC_OPEN_MAX);
    for (int number = 3; number < (limit > 0 && limit < 65536 ? limit : 65536); number++)
        close(number);
}

/* The process that answers, and then stays as the daemon unless it is to answer only `once`:
 * nothing of the agent's is left in it. */
static void become(const char *python, int socket, bool once) {
    char *const argv[] = {(char *)python, "-I", "-m", "hookline", "daemon", "serve",
                          "--fd",         "0",  once ? "--once" : NULL, NULL};
    char home[PATH_MAX + 5] = "HOME=";
    bool known = home_of_user(home + 5, PATH_MAX);
    char *const env[] = {"PATH=/usr/bin:/bin", "LANG=C.UTF-8", known ? home : NULL, NULL};
    setsid();
    /* 0, 1 and 2 are held from the start, so the socket has a number of its own. */
    if (chdir("/") != 0 || dup2(socket, 0) < 0)
        _exit(127);
    close_all_others();
    close(1);
    close(2);
    if (open("/dev/null", O_RDWR) != 1 || dup2(1, 2) < 0)
        _exit(127);
    forget_signals();
    execve(python, argv, env);
    _exit(127);
}

/* Whether the other side hangs up, too, once we have: it still looks, and ends its hooks itself. */
static bool hangs_up(int socket) {
    static char lost[4096];
    int64_t until = now() + GRACE;
    shutdown(socket, SHUT_WR);
    for (struct pollfd polled = {.fd = socket, .events = POLLIN};
         wait_for(&polled, 1, until, false) == READY && now() < until;) {
        ssize_t got = recv(socket, lost, sizeof lost, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return true;
    }
    return false;
}

const char *ask_new_process(const struct call *call, const struct bytes *request, bool once,
                            int64_t deadline, struct answer *answer) {
    int ends[2];
    bool refused = false;
    if (*call->python != '/' || access(call->python, X_OK) != 0)
        return "its Python cannot be run";
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return "no socket can be opened";
    pid_t child = fork();
    if (child < 0)
        return "no process can be started";
    if (child == 0)
        become(call->python, ends[1], once);
    close(ends[1]);
    struct talk talk = {.socket = ends[0],
                        .request = request,
                        .heard = {first_room, 0, sizeof first_room, false}};
    const char *why = converse(&talk, deadline, INT64_MAX, INT64_MAX / 2, answer, &refused);
    if (why) {
        /* One that has acknowledged ends its hooks when it sees that we are gone. One that has not
         * has none yet, and may be stuck before it ever looks; so may one that sees nothing. */
        if (!talk.acknowledged || !hangs_up(ends[0])) {
            kill(-child, SIGKILL); /* its group, which it may not lead yet */
            kill(child, SIGKILL);
        }
        close(ends[0]);
    }
    return why;
}
