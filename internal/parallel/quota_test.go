package parallel

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestQuota(t *testing.T) {
	const (
		mount2 = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
		mount1 = "33 24 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
			"34 24 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
		docker1 = "34 24 0:31 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v2, v1  = "sys/fs/cgroup/", "sys/fs/cgroup/cpu,cpuacct/"
	)
	for _, test := range []struct {
		name           string
		groups, mounts string
		files          map[string]string
		want           float64
	}{
		{"none", "0::/\n", mount2, nil, math.Inf(1)},
		{"no files of proc", "", "", nil, math.Inf(1)},
		{"max", "0::/a\n", mount2, map[string]string{v2 + "a/cpu.max": "max 100000\n"}, math.Inf(1)},
		{"one and a half", "0::/a\n", mount2, map[string]string{v2 + "a/cpu.max": "150000 100000\n"}, 1.5},
		{"of a container, at its root", "0::/\n", mount2, map[string]string{v2 + "cpu.max": "50000 100000\n"}, 0.5},
		{"the group above is the narrower", "0::/a/b\n", mount2, map[string]string{v2 + "a/cpu.max": "100000 100000\n", v2 + "a/b/cpu.max": "150000 100000\n"}, 1},
		{"a period of its own", "0::/a\n", mount2, map[string]string{v2 + "a/cpu.max": "75000 50000\n"}, 1.5},
		{"broken", "0::/a\n", mount2, map[string]string{v2 + "a/cpu.max": "many 100000\n"}, math.Inf(1)},
		{"a period of zero", "0::/a\n", mount2, map[string]string{v2 + "a/cpu.max": "100000 0\n"}, math.Inf(1)},
		{"outside what is mounted", "0::/../x\n", mount2, map[string]string{v2 + "cpu.max": "100000 100000\n"}, 1},
		{"version 1", "4:memory:/m\n3:cpu,cpuacct:/a\n0::/\n", mount1, map[string]string{v1 + "a/cpu.cfs_quota_us": "120000\n", v1 + "a/cpu.cfs_period_us": "100000\n"}, 1.2},
		{"version 1 without a limit", "3:cpu,cpuacct:/a\n", mount1, map[string]string{v1 + "a/cpu.cfs_quota_us": "-1\n", v1 + "a/cpu.cfs_period_us": "100000\n"}, math.Inf(1)},
		{"version 1 in a container", "3:cpu:/docker/abc\n", docker1, map[string]string{"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "100000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}, 1},
		{"cpuset is not cpu", "3:cpuset:/a\n", mount1, map[string]string{v1 + "a/cpu.cfs_quota_us": "100000\n", v1 + "a/cpu.cfs_period_us": "100000\n"}, math.Inf(1)},
		{"lines that are none", "x\n0:\n", "y\n - \n1 2 3 - cgroup2\n", nil, math.Inf(1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{}
			if test.groups != "" {
				root["proc/self/cgroup"] = &fstest.MapFile{Data: []byte(test.groups)}
				root["proc/self/mountinfo"] = &fstest.MapFile{Data: []byte(test.mounts)}
			}
			for name, data := range test.files {
				root[name] = &fstest.MapFile{Data: []byte(data)}
			}
			if got := quota(root); got != test.want {
				t.Errorf("%v processors, expected %v", got, test.want)
			}
		})
	}
}
