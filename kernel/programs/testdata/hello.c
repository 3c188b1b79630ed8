// Says what it was given, uses memory and files, and ends with status 3.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("argument %d: %s\n", i, argv[i]);
	char *p = malloc(1 << 20);
	if (!p)
		return 1;
	memset(p, 7, 1 << 20);
	long sum = 0;
	for (int i = 0; i < 1 << 20; i++)
		sum += p[i];
	printf("sum: %ld, %.3f\n", sum, sum / 3.0);
	FILE *f = tmpfile();
	if (!f || fputs("a line\n", f) < 0 || fseek(f, 0, SEEK_SET))
		return 2;
	char line[16];
	printf("from the file: %s", fgets(line, sizeof line, f));
	return 3;
}
