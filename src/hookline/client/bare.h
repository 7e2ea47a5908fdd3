/* The kernel's calls, for what takes the place of a C library; see bare.c. */
#ifndef HOOKLINE_BARE_H
#define HOOKLINE_BARE_H

/* As the kernel does it: -1, and the error in errno. */
long called(long number, long a, long b, long c, long d, long e, long f);

#define CALL0(number) called(number, 0, 0, 0, 0, 0, 0)
#define CALL1(number, a) called(number, (long)(a), 0, 0, 0, 0, 0)
#define CALL2(number, a, b) called(number, (long)(a), (long)(b), 0, 0, 0, 0)
#define CALL3(number, a, b, c) called(number, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define CALL4(number, a, b, c, d)                                                                  \
    called(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define CALL6(number, a, b, c, d, e, f)                                                            \
    called(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#endif
