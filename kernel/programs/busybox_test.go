package programs

import (
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/leveret-os/leveret/internal/testenv"
	"github.com/leveret-os/leveret/kernel/machine"
)

// many has the tests boot a machine for every applet, which takes minutes.
var many = flag.Bool("applets", false, "boot a machine for every applet of busybox")

// processors is how many the machines have.
var processors = flag.Int("smp", 1, "processors of the machines")

// An applet is one command of busybox that forks nothing. Both Linux, in a
// chroot, and the kernel run it as /bin/busybox with the same /data and an
// empty /out.
type applet struct {
	words string // separated by spaces; ' quotes
	// sorted: the order of the lines is the file system's.
	sorted bool
}

var applets = []applet{
	{words: "ls -1a /data"}, {words: "ls -ln --color=never /data/text /data/numbers"}, {words: "ls -1 /nowhere"},
	{words: "cat /data/text /data/numbers"}, {words: "cat /data"}, {words: "tac /data/text"}, {words: "rev /data/text"}, {words: "nl /data/text"},
	{words: "head -n 2 /data/text"}, {words: "head -c 7 /data/text"}, {words: "tail -n 2 /data/text"}, {words: "tail -c 9 /data/text"},
	{words: "wc /data/text /data/random"}, {words: "sort /data/text"}, {words: "sort -n -r /data/numbers"}, {words: "uniq -c /data/numbers"},
	{words: "cut -d ' ' -f 2 /data/text"}, {words: "paste /data/text /data/numbers"}, {words: "fold -w 10 /data/text"}, {words: "expand /data/text"},
	{words: "grep -n the /data/text"}, {words: "grep -c x /data/numbers"}, {words: "grep -rl fox /data", sorted: true}, {words: "egrep '^(the|a)' /data/text"},
	{words: "sed -e s/fox/hare/ -e 2d /data/text"}, {words: "sed -i s/fox/hare/ /data/text"}, {words: "awk '{ n += $1 } END { print n, NR, sqrt(n) }' /data/numbers"},
	{words: "awk -v f=/data/x 'BEGIN { print 17 > f; close(f); getline x < f; print x + 1; exit 3 }'"},
	{words: "find /data", sorted: true}, {words: "find /data -type f -size +1k", sorted: true}, {words: "find /data -name t* -perm 600", sorted: true}, {words: "find /data -depth -delete -print", sorted: true},
	{words: "md5sum /data/text /data/random"}, {words: "sha1sum /data/random"}, {words: "sha256sum /bin/busybox"}, {words: "sha512sum /data/random"}, {words: "sha3sum /data/random"}, {words: "crc32 /data/random"},
	{words: "od -A x -t x1z /data/text"}, {words: "hexdump -C /data/text"}, {words: "xxd /data/text"}, {words: "strings /data/random"}, {words: "base64 /data/random"}, {words: "cksum /data/random"},
	{words: "tar -c -v -f /out/a.tar /data/deep"}, {words: "tar -t -v -f /data/a.tar"}, {words: "tar -x -v -f /data/a.tar -C /out"}, {words: "tar -x -O -f /data/a.tar"},
	{words: "gzip -c -d /data/a.gz"}, {words: "gunzip -t /data/a.gz"}, {words: "zcat /data/a.gz"}, {words: "gzip /data/text"}, {words: "bzip2 /data/text"}, {words: "unzip -l /data/a.zip"}, {words: "unzip -o /data/a.zip -d /out"}, {words: "unzip -p /data/a.zip"},
	{words: "dd if=/data/random of=/out/x bs=1000 skip=1 count=3 status=noxfer"}, {words: "dd if=/data/text bs=4 count=2 status=none"}, {words: "dd if=/data/text of=/dev/full status=noxfer"},
	{words: "stat -c '%n %s %a %F %h %u %g %Y' /data/text /data/link /data/hard /data/private"}, {words: "stat -L -c '%n %s %F' /data/link"},
	{words: "touch /out/x"}, {words: "touch -c /nowhere/x"}, {words: "touch /nowhere/x"}, {words: "mkdir -p -v /out/a/b/c"}, {words: "mkdir /data"}, {words: "rmdir /data/deep"}, {words: "rm -r /data/deep"}, {words: "rm /data/deep"}, {words: "rm -f /nowhere"},
	{words: "cp -a /data /out/copy"}, {words: "cp -r -v /data/deep /out/copy", sorted: true}, {words: "cp /nowhere /out"}, {words: "mv /data/text /out/moved"}, {words: "mv /data/deep /data/deep/er"}, {words: "ln -s -v /data/text /out/l"}, {words: "ln /data/text /out/l"}, {words: "ln /data /out/l"},
	{words: "chmod -v 640 /data/text"}, {words: "chown -v 5:6 /data/text"}, {words: "readlink /data/link"}, {words: "readlink -f /data/link"}, {words: "realpath /data/../data/deep"}, {words: "du -a -k /data/random"},
	{words: "truncate -s 100 /data/text"}, {words: "fallocate -l 5000 /out/x"}, {words: "mkfifo /out/f"}, {words: "mknod /out/n p"}, {words: "unlink /data/text"}, {words: "unlink /data"}, {words: "sync"}, {words: "shred -u /data/text"},
	{words: "cmp /data/text /data/numbers"}, {words: "diff -u /data/text /data/numbers"}, {words: "diff -r /data /data/deep", sorted: true},
	{words: "date -u -d @1000000000"}, {words: "date -u -r /data/text"}, {words: "cal 2 2026"}, {words: "seq 1 3 10"}, {words: "expr 6 * 7"}, {words: "factor 1234567890"}, {words: "printf '%d %s %o' 7 x 8"}, {words: "basename /a/b.c .c"}, {words: "dirname /a/b"}, {words: "dc -e '2 3 ^ p'"},
	{words: "test -d /data"}, {words: "test -x /data/text"}, {words: "true"}, {words: "false"}, {words: "sleep 0.05"}, {words: "usleep 5"}, {words: "env"}, {words: "id -u"}, {words: "id -g"}, {words: "uname -s -m -o"}, {words: "pwd"}, {words: "getopt ab: -a -b c d"}, {words: "ipcalc -n 10.1.2.3/8"}, {words: "kill -l 15"}, {words: "hostid"}, {words: "mkpasswd -m md5 -S abcdefgh word"}, {words: "nosuchapplet"},
	{words: "sh -c 'cd /data; pwd; echo $((6*7)) ${HOME} *; while read a b; do echo $b-$a; done <text; echo new >/out/x; read v </out/x; echo $v; test -s /out/x && umask'"},
	{words: "sh -c 'bye() { echo bye; }; trap bye EXIT; f() { return 3; }; f; echo $?; set -- a b; shift; echo $1 $#; case x in [w-y]) echo in;; esac; exec 3>/out/y; echo three >&3; cat_is_missing=1; exit 4'"},
}

// reports have other figures on every machine; what must be in them.
var reports = []struct{ words, pattern string }{
	{"ps", `(?m)^ +1 .*busybox ps`}, {"free", `(?m)^Mem: +\d{5,} +\d+`}, {"uptime", `up \d+ min.*load average: \d`}, {"df -k /dev", `(?m) \d+% /dev$`}, {"stat -f /", `Type: tmpfs`}, {"id", `^uid=0.* gid=0`},
	{"uname -r", `^\d+\.\d+`}, {"hostname", `.`}, {"nproc", `^[14]\n`}, {"mount", `proc on /proc type proc`}, {"date", `20\d\d\n$`}, {"dmesg", ``}, {"dmesg -r", `(?m)^<6>core: `}, {"dmesg -c", ``}, {"dmesg -n 3", `^$`}, {"tty", `/dev/console`}, {"mktemp", `^.tmp.tmp\.`},
	{"cat /proc/self/stat /proc/meminfo /proc/cpuinfo /proc/self/maps /proc/self/status /proc/uptime /proc/loadavg /proc/version /proc/stat /proc/mounts", `MemTotal`}, {"head -c 4 /dev/zero", "\x00{4}"}, {"du -s /data", `^\d+\s+/data`}, {"top -b -n 1", `Mem:`}, {"pidof busybox", `^1\n`}, {"stty -a", `speed`},
}

// split takes quoted words apart as a shell does.
func split(words string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(words, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

// tree makes the folder that is /data.
func tree(t *testing.T, dir string) {
	t.Helper()
	var random [5000]byte
	x := uint32(1)
	for i := range random {
		x = x*1664525 + 1013904223
		random[i] = byte(x >> 24)
	}
	if err := os.MkdirAll(filepath.Join(dir, "deep/er/est"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "the quick brown fox\n\tjumps over\nthe lazy dog\na hare sleeps\n"
	for name, data := range map[string]string{
		"text": text, "numbers": "10\n9\n9\n100\n1\n", "random": string(random[:]),
		"private": "secret\n", "deep/fox": "a fox\n", "deep/er/est/leaf": "leaf\n", "empty": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var packed strings.Builder
	g := gzip.NewWriter(&packed)
	_, err := g.Write([]byte(text))
	err = errors.Join(err, g.Close(), os.WriteFile(filepath.Join(dir, "a.gz"), []byte(packed.String()), 0o644))
	packed.Reset()
	z := zip.NewWriter(&packed)
	w, e := z.Create("in/zip.txt")
	if e == nil {
		_, e = w.Write([]byte(text))
	}
	err = errors.Join(err, e, z.Close(), os.WriteFile(filepath.Join(dir, "a.zip"), []byte(packed.String()), 0o644),
		os.Chmod(filepath.Join(dir, "private"), 0o600), os.Symlink("text", filepath.Join(dir, "link")),
		run(exec.Command("tar", "-c", "-f", filepath.Join(dir, "a.tar"), "--owner=0", "--group=0", "--mtime=@0", "-C", dir, "deep", "text", "link")),
		os.WriteFile(filepath.Join(dir, "hard"), nil, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	// The archive has no times.
	err = filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		old := []syscall.Timespec{{}, {}}
		return errors.Join(err, utimes(path, old))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// chrooted runs busybox with words below a folder.
func chrooted(t *testing.T, busybox string, words []string) ending {
	root := t.TempDir()
	tree(t, filepath.Join(root, "data"))
	data, err := os.ReadFile(busybox)
	err = errors.Join(err, os.Mkdir(filepath.Join(root, "bin"), 0o755), os.Mkdir(filepath.Join(root, "out"), 0o777), os.Mkdir(filepath.Join(root, "dev"), 0o755),
		os.WriteFile(filepath.Join(root, "bin/busybox"), data, 0o755))
	for minor, name := range map[int]string{3: "null", 5: "zero", 7: "full"} {
		err = errors.Join(err, syscall.Mknod(filepath.Join(root, "dev", name), syscall.S_IFCHR|0o666, 1<<8|minor))
	}
	if err != nil {
		testenv.Absent(t, fmt.Errorf("a chroot to compare with: %w", err))
	}
	cmd := exec.Command("/bin/busybox", words...)
	cmd.Dir, cmd.Env = "/", []string{"HOME=/", "TERM=linux"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		testenv.Absent(t, fmt.Errorf("a chroot to compare with: %w", err))
	}
	return ending{string(out), cmd.ProcessState.ExitCode()}
}

// built makes the kernel once for all programs.
var built = sync.OnceValues(func() (string, error) { return machine.Build(context.Background()) })

// booted runs busybox with words on the kernel.
func booted(t *testing.T, busybox string, words []string) ending {
	dir := filepath.Join(t.TempDir(), "data")
	tree(t, dir)
	tmp := filepath.Join(t.TempDir(), "out")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	image, err := built()
	if err != nil {
		t.Fatal(err)
	}
	result, err := machine.Run(context.Background(), machine.Config{
		Kernel: image, Program: busybox, Files: map[string]string{"/bin/busybox": busybox, "/data": dir, "/out": tmp}, Args: words,
		CPUs: *processors, Append: "rdinit=/bin/busybox", Timeout: time.Minute, Input: strings.NewReader(""),
	})
	if err != nil {
		t.Errorf("%v\n%s", err, result.Console)
	}
	for line := range strings.Lines(string(result.Console)) {
		if strings.Contains(line, "is not known") {
			t.Log(strings.TrimSpace(line))
		}
	}
	return ending{machine.ProgramOutput(result.Console), result.Status}
}

// busybox is the machine's; a test without one is skipped, or fails in CI.
func busybox(t *testing.T) string {
	if testing.Short() || !*many {
		t.Skip("boots a machine for every applet: go test ./kernel/programs -applets [-smp N]")
	}
	path := filepath.Join(t.TempDir(), "busybox")
	err := found("busybox")(t, path)
	if errors.Is(err, errAbsent) {
		testenv.Absent(t, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestApplets(t *testing.T) {
	path := busybox(t)
	for _, a := range applets {
		t.Run(a.words, func(t *testing.T) {
			words := split(a.words)
			want, got := chrooted(t, path, words), booted(t, path, words)
			if a.sorted {
				want.Output, got.Output = sorted(want.Output), sorted(got.Output)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-linux +kernel):\n%s", diff)
			}
		})
	}
}

func TestReports(t *testing.T) {
	path := busybox(t)
	for _, r := range reports {
		t.Run(r.words, func(t *testing.T) {
			got := booted(t, path, split(r.words))
			if got.Status != 0 || !regexp.MustCompile(r.pattern).MatchString(got.Output) {
				t.Errorf("status %d, want 0 and %q:\n%s", got.Status, r.pattern, got.Output)
			}
		})
	}
}

func sorted(text string) string {
	lines := slices.Sorted(strings.Lines(text))
	return strings.Join(lines, "")
}
