/* What the parts of the thin client share. See client.c for the way an event takes. */
#ifndef HOOKLINE_CLIENT_H
#define HOOKLINE_CLIENT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef HOOKLINE_VERSION
#error "HOOKLINE_VERSION comes from the build: -DHOOKLINE_VERSION=\"1.2.3\""
#endif

#define SECOND INT64_C(1000000000)
#define MILLISECOND INT64_C(1000000)
#define GRACE (SECOND / 4) /* for a last word, when the time is over */

/* The command line: hookline-client PYTHON hook DIALECT [EVENT] [options]. */
struct call {
    const char *python;
    char **words; /* from "hook" on */
    int count;
    const char *dialect, *event;
    const char *home, *user_config, *config, *timeout;
    bool trust_env;
};

/* Bytes that grow; the first few thousand need no allocation. */
struct bytes {
    char *at;
    size_t length, room;
    bool allocated;
};

/* What goes back to the agent; it points into memory that lives until exit. */
struct answer {
    const char *out, *err;
    size_t out_length, err_length;
    int code;
};

enum waited { READY, LATE, TOLD_TO_END, BROKEN };

/* io.c */
int64_t now(void);
void hold_standard_descriptors(void);
void heed_signals(void);
void forget_signals(void);
bool told_to_end(void);
enum waited wait_for(struct pollfd *polled, nfds_t count, int64_t until, bool heeding);
bool reserve(struct bytes *bytes, size_t more);
bool append(struct bytes *bytes, const void *from, size_t length);
bool deliver(const struct answer *answer, int64_t until);
void say(const char *text, int64_t until);

/* exchange.c: each returns NULL, or why there is no answer */
const char *ask_daemon(const struct call *call, const struct bytes *request, int64_t deadline,
                       struct answer *answer, bool *may_have_run);
const char *ask_new_process(const struct call *call, const struct bytes *request, bool once,
                            int64_t deadline, struct answer *answer);

/* last.c */
void last_answer(const struct call *call, const char *cwd, struct answer *answer);
bool closes_by_exit_code(const struct call *call);
bool home_of_user(char *into, size_t room);

#endif
