package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// serverUser is whom Debian's package makes for the server, which refuses to run as root.
const serverUser = "postgres"

// account is as whom the server runs.
type account struct {
	// uid and gid own its files; -1 when it runs as this program's user.
	uid, gid int
}

func chooseAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: -1, gid: -1}, nil
	}
	u, err := user.Lookup(serverUser)
	if err != nil {
		return account{}, fmt.Errorf("run PostgreSQL as another user than root: %w: install Debian's package %s", err, debianPackage)
	}
	uid, uidErr := strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	return account{uid: uid, gid: gid}, errors.Join(uidErr, gidErr)
}

// command is the line that runs a program as the account. The change of the user would
// clear the signal that the program gets when this one dies.
func (a account) command(line ...string) []string {
	if a.uid < 0 {
		return line
	}
	return append([]string{
		"setpriv", "--reuid=" + strconv.Itoa(a.uid), "--regid=" + strconv.Itoa(a.gid), "--clear-groups", "--pdeathsig=keep", "--",
	}, line...)
}

// own gives a file to the account.
func (a account) own(path string) error {
	if err := os.Chown(path, a.uid, a.gid); err != nil {
		return fmt.Errorf("give %s to the user of PostgreSQL: %w", path, err)
	}
	return nil
}

// checkReach returns an error when a directory above dir is closed to the account: the
// programs would only say that they have no permission.
func (a account) checkReach(dir string) error {
	if a.uid < 0 {
		return nil
	}
	for dir != filepath.Dir(dir) {
		dir = filepath.Dir(dir)
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("check the way to PostgreSQL's data: %w", err)
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if ok && int(stat.Uid) != a.uid && info.Mode()&0o001 == 0 {
			return fmt.Errorf("the user %s, as whom PostgreSQL runs, cannot pass %s: chmod o+x it, or keep the data elsewhere", serverUser, dir)
		}
	}
	return nil
}
