/* What of a C library the client uses for files, sockets and memory; see bare.c. */
#define _GNU_SOURCE
#include "client.h"
#ifdef HOOKLINE_BARE
#include "bare.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Nothing is ever created. */
int open(const char *path, int flags, ...) {
    return (int)CALL4(SYS_openat, AT_FDCWD, path, flags, 0);
}

int close(int number) { return (int)CALL1(SYS_close, number); }

ssize_t read(int number, void *into, size_t room) { return CALL3(SYS_read, number, into, room); }

ssize_t write(int number, const void *from, size_t length) {
    return CALL3(SYS_write, number, from, length);
}

int dup2(int number, int wanted) {
    return number == wanted ? wanted : (int)CALL3(SYS_dup3, number, wanted, 0);
}

int access(const char *path, int mode) { return (int)CALL3(SYS_faccessat, AT_FDCWD, path, mode); }

int stat(const char *restrict path, struct stat *restrict found) {
    return (int)CALL4(SYS_newfstatat, AT_FDCWD, path, found, 0);
}

int lstat(const char *restrict path, struct stat *restrict found) {
    return (int)CALL4(SYS_newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW);
}

int fstat(int number, struct stat *found) { return (int)CALL2(SYS_fstat, number, found); }

ssize_t readlink(const char *restrict path, char *restrict into, size_t room) {
    return CALL4(SYS_readlinkat, AT_FDCWD, path, into, room);
}

mode_t umask(mode_t mask) { return (mode_t)CALL1(SYS_umask, mask); }

int chdir(const char *path) { return (int)CALL1(SYS_chdir, path); }

int fchdir(int number) { return (int)CALL1(SYS_fchdir, number); }

struct __dirstream {
    int number;
    long at, filled;
    _Alignas(struct dirent) char room[4096];
};

/* One at a time is all that is ever read. */
DIR *opendir(const char *path) {
    static DIR opened;
    opened.at = opened.filled = 0;
    opened.number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return opened.number < 0 ? NULL : &opened;
}

struct dirent *readdir(DIR *opened) {
    if (opened->at >= opened->filled) {
        opened->at = 0;
        opened->filled = CALL3(SYS_getdents64, opened->number, opened->room, sizeof opened->room);
    }
    if (opened->filled <= 0)
        return NULL;
    struct dirent *entry = (struct dirent *)(void *)(opened->room + opened->at);
    opened->at += entry->d_reclen;
    return entry;
}

int closedir(DIR *opened) { return close(opened->number); }

/* Puts the name of the directory `below` in the one that is opened as `above` before `end`; NULL
 * when it is not there, or there is no room. */
static char *name_before(char *end, const char *room, int above, const struct stat *below) {
    struct stat found;
    DIR opened = {.number = above};
    for (const struct dirent *entry; (entry = readdir(&opened)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            CALL4(SYS_newfstatat, above, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 ||
            found.st_ino != below->st_ino || found.st_dev != below->st_dev)
            continue;
        if ((size_t)(end - room) < length + 1)
            return NULL;
        end -= length;
        memcpy(end, entry->d_name, length);
        *--end = '/';
        return end;
    }
    return NULL;
}

/* The kernel names no directory that is deeper than a page is long, so we climb. */
static char *deep_directory(void) {
    enum { DEEPEST = 1 << 20 };
    struct stat below, at;
    char *room = realloc(NULL, DEEPEST), *end = room + DEEPEST - 1;
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (room == NULL || here < 0 || fstat(here, &below) != 0)
        return NULL;
    *end = 0;
    for (;;) {
        int above = (int)CALL4(SYS_openat, here, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
        close(here);
        if (above < 0 || fstat(above, &at) != 0)
            return NULL;
        if (at.st_ino == below.st_ino && at.st_dev == below.st_dev) {
            close(above);
            return end;
        }
        end = name_before(end, room, above, &below);
        if (end == NULL)
            return NULL;
        here = above;
        below = at;
    }
}

char *getcwd(char *into, size_t room) {
    if (into == NULL)
        return deep_directory();
    long length = CALL2(SYS_getcwd, into, room);
    if (length > 0 && *into == '/')
        return into;
    /* What begins with anything else cannot be reached from here, and has no name. */
    errno = length > 0 ? ENOENT : errno == ENAMETOOLONG ? ERANGE : errno;
    return NULL;
}

/* Memory: rarely any, and then much of it */

void *realloc(void *before, size_t wanted) {
    enum { HEAD = 16 };
    size_t *at = before == NULL ? NULL : (size_t *)(void *)((char *)before - HEAD);
    size_t size = wanted + HEAD;
    long got = at == NULL ? CALL6(SYS_mmap, 0, size, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                          : CALL4(SYS_mremap, at, *at, size, MREMAP_MAYMOVE);
    if (got == -1)
        return NULL;
    *(size_t *)got = size;
    return (char *)got + HEAD;
}

void free(void *before) { (void)before; /* we are gone in a moment */ }

/* Sockets. Their header is not included: it has other names for the type of an address. */

int socket(int family, int type, int protocol) {
    return (int)CALL3(SYS_socket, family, type, protocol);
}

int socketpair(int family, int type, int protocol, int ends[2]) {
    return (int)CALL4(SYS_socketpair, family, type, protocol, ends);
}

int connect(int number, const void *address, unsigned length) {
    return (int)CALL3(SYS_connect, number, address, length);
}

int getsockopt(int number, int level, int option, void *into, unsigned *length) {
    return (int)CALL6(SYS_getsockopt, number, level, option, into, length, 0);
}

ssize_t send(int number, const void *from, size_t length, int flags) {
    return CALL6(SYS_sendto, number, from, length, flags, 0, 0);
}

ssize_t recv(int number, void *into, size_t room, int flags) {
    return CALL6(SYS_recvfrom, number, into, room, flags, 0, 0);
}

int shutdown(int number, int how) { return (int)CALL2(SYS_shutdown, number, how); }

#endif
