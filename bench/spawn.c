/* Starts programs in turns and times each from pipe() to waitpid(), as an agent waits for a hook.
 *
 * A parent in Python or node costs more than what is measured, so the parent is this one. All that
 * it needs comes in one file of NUL-ended words:
 *
 *   rounds  warm-up-rounds  count  { name  cwd  argc argv...  envc env...  files file... } * count
 *
 * In each round every program runs once, in an order shuffled anew: none is always the one that
 * runs behind the heaviest. Round r gets the r-th input file of its program, so no text repeats
 * while there are as many files as rounds. Results go to stdout as JSON; what each program said
 * last and how it ended are in it, so that a fast failure is not taken for a fast answer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT = 2048 };

struct input {
    char *bytes;
    size_t length;
};

struct output {
    char kept[KEPT];
    size_t length;
};

struct program {
    char *name, *cwd;
    char **argv, **env;
    struct input *inputs;
    int input_count;
    int64_t *samples;
    int last_exit, failures;
    struct output out, err;
};

static char *words, *words_end;

static void die(const char *what) {
    fprintf(stderr, "spawn: %s: %s\n", what, strerror(errno));
    exit(1);
}

static struct input slurp(const char *path) {
    struct input read_in = {NULL, 0};
    size_t room = 0;
    int fd = open(path, O_RDONLY);
    if (fd < 0) die(path);
    for (;;) {
        if (read_in.length == room) {
            room = room ? room * 2 : 4096;
            if (!(read_in.bytes = realloc(read_in.bytes, room))) die("memory");
        }
        ssize_t got = read(fd, read_in.bytes + read_in.length, room - read_in.length);
        if (got < 0) die(path);
        if (got == 0) break;
        read_in.length += (size_t)got;
    }
    close(fd);
    return read_in;
}

static char *word(void) {
    char *this = words;
    if (words >= words_end) {
        errno = EINVAL;
        die("the file of words ends early");
    }
    words += strlen(words) + 1;
    return this;
}

static char **word_list(int *count) {
    *count = atoi(word());
    char **list = calloc((size_t)*count + 1, sizeof *list);
    if (!list) die("memory");
    for (int i = 0; i < *count; i++) list[i] = word();
    return list;
}

static void describe(struct program *p, int rounds) {
    int count;
    p->name = word();
    p->cwd = word();
    p->argv = word_list(&count);
    p->env = word_list(&count);
    char **files = word_list(&p->input_count);
    p->inputs = calloc((size_t)p->input_count, sizeof *p->inputs);
    p->samples = calloc((size_t)rounds, sizeof *p->samples);
    if (!p->inputs || !p->samples) die("memory");
    for (int i = 0; i < p->input_count; i++) p->inputs[i] = slurp(files[i]);
    free(files);
}

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void keep(struct output *o, const char *bytes, size_t length) {
    size_t room = o->length < KEPT ? KEPT - o->length : 0;
    memcpy(o->kept + o->length, bytes, length < room ? length : room);
    o->length += length;
}

/* Feeds stdin and empties stdout and stderr until both are closed. */
static void attend(int in, int out, int err, const struct input *input, struct program *p) {
    static char chunk[1 << 16];
    struct pollfd fds[3] = {{out, POLLIN, 0}, {err, POLLIN, 0}, {in, POLLOUT, 0}};
    struct output *outputs[2] = {&p->out, &p->err};
    size_t written = 0;
    p->out.length = p->err.length = 0;
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (fds[2].fd >= 0) {
            ssize_t put = 0;
            if (written < input->length)
                put = write(in, input->bytes + written, input->length - written);
            if (put > 0) written += (size_t)put;
            if (written == input->length || (put < 0 && errno != EAGAIN)) {
                close(in);
                fds[2].fd = -1;
            }
        }
        if (poll(fds, 3, -1) < 0 && errno != EINTR) die("poll");
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || !fds[i].revents) continue;
            ssize_t got = read(fds[i].fd, chunk, sizeof chunk);
            if (got > 0) {
                keep(outputs[i], chunk, (size_t)got);
            } else {
                close(fds[i].fd);
                fds[i].fd = -1;
            }
        }
    }
    if (fds[2].fd >= 0) close(in);
}

static int64_t run(struct program *p, int round) {
    const struct input *input = &p->inputs[round % p->input_count];
    int in[2], out[2], err[2], status;
    pid_t child;
    posix_spawn_file_actions_t actions;
    if (chdir(p->cwd)) die(p->cwd);

    int64_t started = now();
    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) die("pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    if ((errno = posix_spawn(&child, p->argv[0], &actions, NULL, p->argv, p->env))) die(p->name);
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    close(err[1]);
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    attend(in[1], out[0], err[0], input, p);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) die("waitpid");
    int64_t took = now() - started;

    p->last_exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    p->failures += p->last_exit != 0;
    return took;
}

static void shuffle(int *order, int count) {
    static uint64_t state = 88172645463325252u;
    for (int i = count - 1; i > 0; i--) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        int j = (int)(state % (uint64_t)(i + 1));
        int held = order[i];
        order[i] = order[j];
        order[j] = held;
    }
}

static void print_text(const char *key, const struct output *o) {
    printf(",\"%s\":\"", key);
    for (size_t i = 0; i < (o->length < KEPT ? o->length : KEPT); i++) {
        unsigned char c = (unsigned char)o->kept[i];
        if (c == '"' || c == '\\') printf("\\%c", c);
        else if (c < 32 || c > 126) printf("\\u%04x", c);
        else putchar(c);
    }
    printf("\",\"%s_bytes\":%zu", key, o->length);
}

static void print_results(const struct program *programs, int count, int rounds) {
    putchar('[');
    for (int i = 0; i < count; i++) {
        const struct program *p = &programs[i];
        printf("%s{\"ns\":[", i ? ",\n" : "");
        for (int r = 0; r < rounds; r++) printf("%s%lld", r ? "," : "", (long long)p->samples[r]);
        printf("],\"exit\":%d,\"failures\":%d", p->last_exit, p->failures);
        print_text("stdout", &p->out);
        print_text("stderr", &p->err);
        putchar('}');
    }
    puts("]");
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: spawn FILE\n", stderr);
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    struct input file = slurp(argv[1]);
    words = file.bytes;
    words_end = file.bytes + file.length;
    int rounds = atoi(word()), warm = atoi(word()), count = atoi(word());
    struct program *programs = calloc((size_t)count, sizeof *programs);
    int *order = calloc((size_t)count, sizeof *order);
    if (!programs || !order) die("memory");
    for (int i = 0; i < count; i++) {
        describe(&programs[i], rounds);
        order[i] = i;
    }
    for (int round = 0; round < warm + rounds; round++) {
        shuffle(order, count);
        for (int i = 0; i < count; i++) {
            struct program *p = &programs[order[i]];
            int64_t took = run(p, round);
            if (round >= warm) p->samples[round - warm] = took;
            else p->failures = 0;
        }
    }
    print_results(programs, count, rounds);
    return 0;
}
