package node

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// mountInfo lists the mounts that this process sees.
const mountInfo = "/proc/self/mountinfo"

// mount is a mounted file system.
type mount struct {
	point string
	kind  string
}

func readMounts(file string) ([]mount, error) {
	f, err := os.Open(file) // #nosec G304 -- the kernel's file, or a test's
	if err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	defer func() { _ = f.Close() }()
	var mounts []mount
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		// The optional fields before the dash vary in number.
		before, after, _ := strings.Cut(lines.Text(), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) > 4 && len(kind) > 0 {
			mounts = append(mounts, mount{point: fields[4], kind: kind[0]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list mounts: %w", err)
	}
	return mounts, nil
}
