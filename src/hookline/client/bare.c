/* The beginning of a client that needs no C library, and how it calls the kernel.
 *
 * Before `main`, a C library asks the processor what it can do. In a virtual machine each of these
 * questions goes to whoever runs it, and together they take longer than all that the client does.
 * Compiled with HOOKLINE_BARE, bare.c and its parts take the library's place: they are the
 * functions of it that the client uses, as far as it uses them. Otherwise they are empty.
 */
#define _GNU_SOURCE
#include "client.h"
#ifdef HOOKLINE_BARE
#if !defined(__linux__) || !defined(__LP64__) || !(defined(__x86_64__) || defined(__aarch64__))
#error "only for the systems whose calls these are"
#endif
#include "bare.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SET = 8 }; /* bytes of a set of signals, as the kernel has it */

int main(int argc, char **argv);
char **environ;

int *__errno_location(void) {
    static int last;
    return &last;
}

long called(long number, long a, long b, long c, long d, long e, long f) {
#ifdef __x86_64__
    long result;
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
#else
    register long result __asm__("x0") = a;
    register long second __asm__("x1") = b;
    register long third __asm__("x2") = c;
    register long fourth __asm__("x3") = d;
    register long fifth __asm__("x4") = e;
    register long sixth __asm__("x5") = f;
    register long which __asm__("x8") = number;
    __asm__ volatile("svc 0"
                     : "+r"(result)
                     : "r"(second), "r"(third), "r"(fourth), "r"(fifth), "r"(sixth), "r"(which)
                     : "memory");
#endif
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* The beginning: the kernel puts the count of the words, the words and the environment on the
 * stack. */
void begin_bare(long *stack);
#ifdef __x86_64__
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n"
        "\tcall begin_bare\n");
/* A handler returns to here. */
void end_handler(void);
__asm__(".globl end_handler\nend_handler:\n\tmov $15, %eax\n\tsyscall\n");
#else
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl begin_bare\n");
#endif

/* What a loader does for a program that may lie anywhere: addresses in constants are put right. All
 * are our own, so there is one kind; mostly there is none. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const Elf64_Dyn _DYNAMIC[] __attribute__((visibility("hidden")));

static void relocate(void) {
    const Elf64_Rela *at = NULL;
    unsigned long left = 0, base = (unsigned long)__ehdr_start;
    for (const Elf64_Dyn *each = _DYNAMIC; each->d_tag != DT_NULL; each++)
        if (each->d_tag == DT_RELA)
            at = (const Elf64_Rela *)(base + each->d_un.d_ptr);
        else if (each->d_tag == DT_RELASZ)
            left = each->d_un.d_val / sizeof *at;
    for (; left > 0; left--, at++)
        *(unsigned long *)(base + at->r_offset) = base + (unsigned long)at->r_addend;
}

/* By these a function notices that something wrote over its frame, and does not return to it. */
unsigned long __stack_chk_guard;
void __stack_chk_fail(void) { __builtin_trap(); }

void begin_bare(long *stack) {
    char **argv = (char **)(stack + 1), **end = argv + stack[0] + 1;
    relocate();
    for (environ = end; *end != NULL; end++)
        ;
    for (const Elf64_auxv_t *each = (const Elf64_auxv_t *)(end + 1); each->a_type; each++)
        if (each->a_type == AT_RANDOM) /* no text runs over the zero that it ends with */
            __stack_chk_guard = *(const unsigned long *)each->a_un.a_val & ~255UL;
    _exit(main((int)stack[0], argv));
}

void _exit(int code) {
    for (;;)
        CALL1(SYS_exit_group, code);
}

/* Processes and signals */

pid_t fork(void) { return (pid_t)CALL6(SYS_clone, SIGCHLD, 0, 0, 0, 0, 0); }

int execve(const char *path, char *const argv[], char *const env[]) {
    return (int)CALL3(SYS_execve, path, argv, env);
}

pid_t setsid(void) { return (pid_t)CALL0(SYS_setsid); }

int kill(pid_t process, int number) { return (int)CALL2(SYS_kill, process, number); }

uid_t getuid(void) { return (uid_t)CALL0(SYS_getuid); }

/* Only asked how many descriptors there may be: nobody can say. */
long sysconf(int which) {
    (void)which;
    return -1;
}

long syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long);
    va_end(rest);
    return CALL3(number, a, b, c);
}

static unsigned long bits_of(const sigset_t *set) {
    unsigned long bits;
    memcpy(&bits, set, SET);
    return bits;
}

static int set_bits(sigset_t *set, unsigned long bits) {
    memset(set, 0, sizeof *set);
    memcpy(set, &bits, SET);
    return 0;
}

int sigemptyset(sigset_t *set) { return set_bits(set, 0); }

int sigaddset(sigset_t *set, int number) {
    return set_bits(set, bits_of(set) | 1UL << (number - 1));
}

int sigdelset(sigset_t *set, int number) {
    return set_bits(set, bits_of(set) & ~(1UL << (number - 1)));
}

int sigismember(const sigset_t *set, int number) { return bits_of(set) >> (number - 1) & 1; }

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before) {
    unsigned long wanted = bits_of(set), was = 0;
    long done = CALL4(SYS_rt_sigprocmask, how, &wanted, &was, SET);
    if (done == 0 && before != NULL)
        set_bits(before, was);
    return (int)done;
}

struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
};

int sigaction(int number, const struct sigaction *restrict wanted,
              struct sigaction *restrict before) {
    struct kernel_action to = {.handler = wanted->sa_handler,
                               .flags = (unsigned long)wanted->sa_flags,
                               .mask = bits_of(&wanted->sa_mask)};
    struct kernel_action was;
#ifdef __x86_64__
    to.flags |= 0x04000000; /* SA_RESTORER */
    to.restorer = end_handler;
#endif
    long done = CALL4(SYS_rt_sigaction, number, &to, &was, SET);
    if (done == 0 && before != NULL) {
        before->sa_handler = was.handler;
        before->sa_flags = (int)was.flags;
        set_bits(&before->sa_mask, was.mask);
    }
    return (int)done;
}

/* Time and waiting */

int clock_gettime(clockid_t clock, struct timespec *into) {
    return (int)CALL2(SYS_clock_gettime, clock, into);
}

int ppoll(struct pollfd *polled, nfds_t count, const struct timespec *limit,
          const sigset_t *signals) {
    struct timespec left = *limit; /* the kernel writes into it */
    unsigned long bits = signals == NULL ? 0 : bits_of(signals);
    return (int)CALL6(SYS_ppoll, polled, count, &left, signals == NULL ? NULL : &bits, SET, 0);
}

int poll(struct pollfd *polled, nfds_t count, int milliseconds) {
    struct timespec limit = {.tv_sec = milliseconds / 1000,
                             .tv_nsec = milliseconds % 1000 * 1000000L};
    return ppoll(polled, count, &limit, NULL);
}

/* Its header is not included: it has a name of its own for what `which` is. */
int setitimer(int which, const void *wanted, void *before) {
    return (int)CALL3(SYS_setitimer, which, wanted, before);
}

ssize_t getrandom(void *into, size_t length, unsigned flags) {
    return CALL3(SYS_getrandom, into, length, flags);
}

#endif
