/* What of a C library the client uses for texts and bytes; see bare.c. */
#include "client.h"
#ifdef HOOKLINE_BARE

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Or gcc sees what these loops do, and has them call themselves. To clang -fno-builtin says it. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

extern char **environ;

void *memcpy(void *restrict into, const void *restrict from, size_t length) {
    char *at = into;
    const char *source = from;
#ifdef __x86_64__
    __asm__ volatile("rep movsb" : "+D"(at), "+S"(source), "+c"(length) : : "memory");
#else
    while (length--)
        *at++ = *source++;
#endif
    return into;
}

void *memmove(void *into, const void *from, size_t length) {
    char *to = into;
    const char *source = from;
    if (to <= source || to >= source + length)
        return memcpy(into, from, length);
    while (length--)
        to[length] = source[length];
    return into;
}

void *memset(void *into, int value, size_t length) {
    for (char *at = into; length--; at++)
        *at = (char)value;
    return into;
}

size_t strlen(const char *text) {
    const char *end = text;
    while (*end)
        end++;
    return (size_t)(end - text);
}

int strcmp(const char *one, const char *other) {
    while (*one && *one == *other)
        one++, other++;
    return (unsigned char)*one - (unsigned char)*other;
}

char *strchr(const char *text, int wanted) {
    for (; *text != (char)wanted; text++)
        if (*text == 0)
            return NULL;
    return (char *)text;
}

char *strcpy(char *restrict into, const char *restrict from) {
    memcpy(into, from, strlen(from) + 1);
    return into;
}

char *strcat(char *restrict into, const char *restrict from) {
    strcpy(into + strlen(into), from);
    return into;
}

/* Digits only, of any base up to ten: the third field of a line in /etc/passwd. */
unsigned long strtoul(const char *restrict text, char **restrict end, int base) {
    unsigned long number = 0;
    for (; *text >= '0' && *text < '0' + base; text++) {
        unsigned long digit = (unsigned long)(*text - '0'), times = (unsigned long)base;
        number = number > (ULONG_MAX - digit) / times ? ULONG_MAX : number * times + digit;
    }
    *end = (char *)text;
    return number;
}

/* Seconds as people write them: 30, 1.5, 2e3. Whatever has no digits is none. */
double strtod(const char *restrict text, char **restrict end) {
    const char *at = text;
    double number = 0, sign = 1;
    int digits = 0, power = 0;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    if (*at == '-' || *at == '+')
        sign = *at++ == '-' ? -1 : 1;
    for (; *at >= '0' && *at <= '9'; at++, digits++)
        number = number * 10 + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++, digits++, power--)
            number = number * 10 + (*at - '0');
    *end = (char *)(digits ? at : text);
    if (digits && (*at == 'e' || *at == 'E')) {
        const char *behind = at + 1;
        bool negative = *behind == '-';
        int written = 0;
        if (*behind == '-' || *behind == '+')
            behind++;
        if (*behind >= '0' && *behind <= '9') {
            for (; *behind >= '0' && *behind <= '9'; behind++)
                written = written < 9999 ? written * 10 + (*behind - '0') : written;
            power += negative ? -written : written;
            *end = (char *)behind;
        }
    }
    for (; power > 0 && number != 0 && number <= 1e300; power--)
        number *= 10;
    for (; power < 0 && number != 0; power++)
        number /= 10;
    return sign * number;
}

char *getenv(const char *name) {
    size_t length = strlen(name);
    for (char **entry = environ; *entry != NULL; entry++) {
        size_t same = 0;
        while (same < length && (*entry)[same] == name[same])
            same++;
        if (same == length && (*entry)[same] == '=')
            return *entry + length + 1;
    }
    return NULL;
}

#endif
