package process

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"example.com/fairlead/activities/provider"
)

// Files in the directory of an instance.
const (
	recordFile = "instance.json"
	authFile   = "credentials"
	logFile    = "proxy.log"
	lifePrefix = "life-"
)

// Prefixes of directories that are no instances: being made, and being removed.
const (
	newPrefix  = ".new-"
	gonePrefix = ".gone-"
)

// record is what is kept of an instance. The pid is not in it: only the kernel
// knows which process lives (package life).
type record struct {
	Owner       provider.Owner `json:"owner"`
	Incarnation int64          `json:"incarnation"`
	Hash        string         `json:"hash"`
	Address     netip.Addr     `json:"address"`
	Port        int32          `json:"port"`
	Auth        bool           `json:"auth"`
	// LifeFile is the lock file of the process. Its name is random: a process that
	// was started for a former instance of the same name must not take this one's.
	LifeFile  string    `json:"lifeFile"`
	CreatedAt time.Time `json:"createdAt"`
}

func (r *record) addrPort() netip.AddrPort {
	return netip.AddrPortFrom(r.Address, uint16(r.Port)) // #nosec G115 -- a TCP port
}

// legalName keeps names from leaving the state directory or meeting its own files.
var legalName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// dir is the directory of an instance.
func (p *Provider) dir(id provider.ID) (string, error) {
	if !legalName.MatchString(id.Name) {
		return "", fmt.Errorf("instance name %q is not a DNS label: %w", id.Name, provider.ErrPermanent)
	}
	return filepath.Join(p.stateDir, id.Name), nil
}

// errDamaged is wrapped by errors about a record that cannot be read or trusted.
var errDamaged = errors.New("damaged instance record")

// readRecord returns ErrNotFound when there is no directory.
func readRecord(dir string) (*record, error) {
	path := filepath.Join(dir, recordFile)
	data, err := os.ReadFile(path) // #nosec G304 -- a path of the state directory
	if errors.Is(err, os.ErrNotExist) {
		if _, statErr := os.Stat(dir); errors.Is(statErr, os.ErrNotExist) {
			return nil, fmt.Errorf("instance %s: %w", filepath.Base(dir), provider.ErrNotFound)
		}
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	if err != nil {
		return nil, diskError("read the record of an instance", err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", errDamaged, path, err)
	}
	if !strings.HasPrefix(r.LifeFile, lifePrefix) || r.LifeFile != filepath.Base(r.LifeFile) || !r.Address.IsValid() {
		return nil, fmt.Errorf("%w: %s is incomplete", errDamaged, path)
	}
	return &r, nil
}

// place puts a whole directory in place at once, so that none is ever seen half
// made.
func (p *Provider) place(dir string, r *record, auth string) error {
	tmp, err := os.MkdirTemp(p.stateDir, newPrefix)
	if err != nil {
		return diskError("make the directory of an instance", err)
	}
	if err := fill(tmp, r, auth); err != nil {
		return errors.Join(err, os.RemoveAll(tmp))
	}
	if err := os.Rename(tmp, dir); err != nil {
		return errors.Join(diskError("put the directory of an instance in place", err), os.RemoveAll(tmp))
	}
	return nil
}

func fill(dir string, r *record, auth string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the record of an instance: %w", err)
	}
	files := map[string]string{recordFile: string(data) + "\n", r.LifeFile: ""}
	if r.Auth {
		files[authFile] = auth
	}
	for name, content := range files {
		if err := writeSynced(filepath.Join(dir, name), content); err != nil {
			return diskError("write a file of an instance", err)
		}
	}
	return nil
}

// writeSynced writes a file that is there after a power failure too.
func writeSynced(path, content string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- a path of the state directory
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	return errors.Join(err, f.Sync(), f.Close())
}

// erase takes a directory out of sight at once and then removes it.
func (p *Provider) erase(dir string) error {
	gone := filepath.Join(p.stateDir, gonePrefix+filepath.Base(dir)+"-"+rand.Text())
	if err := os.Rename(dir, gone); err != nil {
		return diskError("remove the directory of an instance", err)
	}
	if err := os.RemoveAll(gone); err != nil {
		return diskError("remove the directory of an instance", err)
	}
	return nil
}

// sweep removes what calls that were killed left behind. It is called with the lock
// under which new directories are made.
func (p *Provider) sweep() error {
	for _, prefix := range []string{newPrefix, gonePrefix} {
		left, err := filepath.Glob(filepath.Join(p.stateDir, prefix+"*"))
		if err != nil {
			return fmt.Errorf("list leftovers of %s: %w", p.stateDir, err)
		}
		for _, dir := range left {
			if err := os.RemoveAll(dir); err != nil {
				return diskError("remove a leftover", err)
			}
		}
	}
	return nil
}

// names lists the instances' directories.
func (p *Provider) names() ([]string, error) {
	entries, err := os.ReadDir(p.stateDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskError("list the state directory", err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), provider.NamePrefix) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// addressOwners says which instance has which address, whatever its cluster.
func (p *Provider) addressOwners() (map[netip.Addr]string, error) {
	names, err := p.names()
	if err != nil {
		return nil, err
	}
	owners := map[netip.Addr]string{}
	for _, name := range names {
		// A record that cannot be read hides an address: listening on it will fail.
		if r, err := readRecord(filepath.Join(p.stateDir, name)); err == nil {
			owners[r.Address] = name
		}
	}
	return owners, nil
}

// diskError classes an error of the file system; err names the path.
func diskError(doing string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s: %w: make room there: %w", doing, err, provider.ErrQuotaExceeded)
	}
	return fmt.Errorf("%s: %w: %w", doing, err, provider.ErrTransient)
}
