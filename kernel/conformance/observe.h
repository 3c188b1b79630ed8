// What the programs of this folder print their observations with.
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// say prints one observation.
__attribute__((format(printf, 1, 2), unused)) static void say(const char *format, ...) {
	va_list list;
	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

// result prints what a call gave: its value, or the name of its error.
__attribute__((unused)) static long result(const char *name, long r) {
	if (r == -1)
		say("%s: %s", name, strerrorname_np(errno));
	else
		say("%s: %ld", name, r);
	return r;
}

// TRY prints a call and its result; DONE only whether it failed, where the
// value varies.
#define TRY(call) ({ errno = 0; result(#call, (long)(call)); })
#define DONE(call) ({ errno = 0; long r_ = (long)(call); result(#call, r_ == -1 ? -1 : 0); r_; })
#define YES(what) say("%s: %s", #what, (what) ? "yes" : "no")
