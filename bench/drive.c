/* Asks a daemon over many connections, each again as soon as it is answered, and times each answer.
 *
 * On two cores a driver in Python takes half of what it measures, so the driver is this one. All
 * that it needs comes in one file; numbers are of 8 bytes, in the order of this machine:
 *
 *   connections  events-of-each  nanoseconds  frames-of-each  first-number
 *   { descriptor  { length  frame } * frames-of-each } * connections
 *
 * The descriptors are connected already. Eight @ in a frame stand for its number in digits, which
 * grows from question to question as the ids of real clients do. At most so many nanoseconds long a
 * new question is asked; 0 for no end. To stdout go, as numbers of the same kind: nanoseconds in
 * all, then for each connection the count of its events and the nanoseconds of each. Whatever is no
 * answer to a question ends it with words on stderr.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DIGITS = 8, HEADER = 10, MOST_MARKS = 32, READ = 1 << 16 };

struct frame {
    char *bytes;
    int64_t length;
    int marks;
    int64_t mark[MOST_MARKS];
};

struct connection {
    int fd;
    int64_t left, sent, answered;
    struct frame *frames;
    int64_t *samples;
    unsigned char header[HEADER];
    size_t header_length, rest;
};

static char *file, *file_end;
static int64_t frame_count, next_number, until;

static void die(const char *what) {
    fprintf(stderr, "drive: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void refuse(const char *what) {
    fprintf(stderr, "drive: %s\n", what);
    exit(1);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static char *bytes(int64_t count) {
    char *these = file;
    if (count < 0 || file_end - file < count) refuse("the file ends early");
    file += count;
    return these;
}

static int64_t number(void) {
    int64_t value;
    memcpy(&value, bytes(sizeof value), sizeof value);
    return value;
}

static void read_file(const char *path) {
    struct stat found;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &found)) die(path);
    file = malloc((size_t)found.st_size + 1);
    if (!file) die("memory");
    for (file_end = file; file_end < file + found.st_size;) {
        ssize_t got = read(fd, file_end, (size_t)(file + found.st_size - file_end));
        if (got <= 0) die(path);
        file_end += got;
    }
    close(fd);
}

static void describe(struct connection *c, int64_t events) {
    c->fd = (int)number();
    c->left = events;
    c->samples = calloc((size_t)events, sizeof *c->samples);
    c->frames = calloc((size_t)frame_count, sizeof *c->frames);
    if (!c->samples || !c->frames) die("memory");
    for (int64_t i = 0; i < frame_count; i++) {
        struct frame *f = &c->frames[i];
        f->length = number();
        f->bytes = bytes(f->length);
        char *from = f->bytes, *end = f->bytes + f->length;
        while ((from = memmem(from, (size_t)(end - from), "@@@@@@@@", DIGITS))) {
            if (f->marks == MOST_MARKS) refuse("a frame has too many marks");
            f->mark[f->marks++] = from - f->bytes;
            from += DIGITS;
        }
    }
}

static void ask(struct connection *c) {
    struct frame *f = &c->frames[next_number % frame_count];
    char digits[24];
    snprintf(digits, sizeof digits, "%08lld", (long long)next_number++);
    for (int i = 0; i < f->marks; i++) memcpy(f->bytes + f->mark[i], digits, DIGITS);
    c->left--;
    c->header_length = c->rest = 0;
    c->sent = now();
    for (int64_t put = 0; put < f->length;) {
        ssize_t taken = send(c->fd, f->bytes + put, (size_t)(f->length - put), MSG_NOSIGNAL);
        if (taken < 0 && errno != EINTR) die("send");
        if (taken > 0) put += taken;
    }
}

static uint32_t big_endian(const unsigned char *from) {
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Whether the answer is complete. Before it come any number of A and K. */
static int take(struct connection *c, const unsigned char *from, const unsigned char *end) {
    while (from < end && c->header_length < HEADER) {
        unsigned char byte = *from++;
        if (!c->header_length && (byte == 'A' || byte == 'K')) continue;
        if (!c->header_length && byte != 'R') refuse("the daemon refused an event");
        c->header[c->header_length++] = byte;
        if (c->header_length == HEADER)
            c->rest = (size_t)big_endian(c->header + 2) + big_endian(c->header + 6);
    }
    if (c->header_length < HEADER) return 0;
    if (c->header[1]) refuse("an event ended with an exit code");
    if ((size_t)(end - from) > c->rest) refuse("there is more than an answer");
    c->rest -= (size_t)(end - from);
    return !c->rest;
}

/* Whether this connection goes on. */
static int attend(struct connection *c) {
    static unsigned char chunk[READ];
    ssize_t got = recv(c->fd, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return 1;
    if (got < 0) die("recv");
    if (!got) refuse("the daemon closed a connection");
    if (!take(c, chunk, chunk + got)) return 1;
    int64_t time = now();
    c->samples[c->answered++] = time - c->sent;
    if (!c->left || (until && time > until)) return 0;
    ask(c);
    return 1;
}

static void put_numbers(const int64_t *these, int64_t count) {
    if (fwrite(these, sizeof *these, (size_t)count, stdout) != (size_t)count) die("stdout");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: drive FILE\n", stderr);
        return 64;
    }
    read_file(argv[1]);
    int64_t count = number(), events = number(), limit = number();
    frame_count = number();
    next_number = number();
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    int watch = epoll_create1(EPOLL_CLOEXEC);
    if (!connections || watch < 0) die("memory");
    for (int64_t i = 0; i < count; i++) {
        struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = &connections[i]};
        describe(&connections[i], events);
        if (epoll_ctl(watch, EPOLL_CTL_ADD, connections[i].fd, &wanted)) die("epoll_ctl");
    }
    int64_t started = now(), open = count;
    until = limit ? started + limit : 0;
    for (int64_t i = 0; i < count; i++) ask(&connections[i]);
    while (open) {
        struct epoll_event ready[64];
        int found = epoll_wait(watch, ready, 64, -1);
        if (found < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < found; i++) {
            struct connection *c = ready[i].data.ptr;
            if (attend(c)) continue;
            if (epoll_ctl(watch, EPOLL_CTL_DEL, c->fd, NULL)) die("epoll_ctl");
            open--;
        }
    }
    int64_t took = now() - started;
    put_numbers(&took, 1);
    for (int64_t i = 0; i < count; i++) {
        put_numbers(&connections[i].answered, 1);
        put_numbers(connections[i].samples, connections[i].answered);
    }
    return fflush(stdout) ? 1 : 0;
}
