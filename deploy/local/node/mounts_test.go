package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHierarchies(t *testing.T) {
	tests := []struct {
		name   string
		mounts []string
		want   []string
	}{
		{
			name: "v1 with v2 beside it",
			mounts: []string{
				"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
				"32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu",
				"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 master:2 - cgroup2 cgroup2 rw",
			},
			want: []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"},
		},
		{
			name:   "v2 alone",
			mounts: []string{"30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw"},
			want:   []string{"/sys/fs/cgroup"},
		},
		{name: "none", mounts: []string{"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "mountinfo")
			if err := os.WriteFile(file, []byte(strings.Join(tt.mounts, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := hierarchies(file)
			if (err != nil) != (tt.want == nil) {
				t.Fatalf("error is %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("hierarchies (-want +got):\n%s", diff)
			}
		})
	}
}
