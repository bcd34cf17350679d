package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"example.com/fairlead/deploy/local/controlplane"
)

// cniPrograms is where Debian has the network plugins.
const cniPrograms = "/usr/lib/cni"

// requirements are the programs that the machine must have, with their Debian
// packages.
var requirements = []struct{ program, pkg string }{
	{"containerd", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{filepath.Join(cniPrograms, "bridge"), "containernetworking-plugins"},
	{filepath.Join(cniPrograms, "host-local"), "containernetworking-plugins"},
	{filepath.Join(cniPrograms, "loopback"), "containernetworking-plugins"},
	{filepath.Join(cniPrograms, "portmap"), "containernetworking-plugins"},
	{"iptables", "iptables"},
	{"ip", "iproute2"},
	{"nsenter", "util-linux"},
	{"unshare", "util-linux"},
	{"mount", "mount"},
}

// builtPrograms are those that are not installed.
var builtPrograms = []string{"kubelet", "kube-proxy"}

// checkRequirements tells everything that is missing at once.
func checkRequirements(binDir string) error {
	if os.Geteuid() != 0 {
		return errors.New("a node needs root: it makes network namespaces and control groups")
	}
	var packages []string
	for _, r := range requirements {
		if _, err := exec.LookPath(r.program); err != nil && !slices.Contains(packages, r.pkg) {
			packages = append(packages, r.pkg)
		}
	}
	var problems []error
	if len(packages) > 0 {
		problems = append(problems, fmt.Errorf("a node needs Debian packages that are missing: apt-get install --no-install-recommends %s", strings.Join(packages, " ")))
	}
	programs := slices.Concat(builtPrograms, controlplane.Programs(), controlplane.ControllerPrograms())
	if err := controlplane.CheckPrograms(binDir, programs...); err != nil {
		problems = append(problems, err)
	}
	for _, image := range images {
		if _, err := os.Stat(imageFile(binDir, image)); err != nil {
			problems = append(problems, fmt.Errorf("image %s not found: build with `make tools`", imageFile(binDir, image)))
		}
	}
	return errors.Join(problems...)
}
