package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// debianPackage has the server.
const debianPackage = "postgresql"

// binaries are where Debian keeps each version's programs.
const binaries = "/usr/lib/postgresql/*/bin/postgres"

// Anyone who knows the password may come from anywhere: the addresses that are listened on
// decide who reaches the server.
const hostAccess = "host all all all scram-sha-256\n"

// programs is the directory of the newest version's programs.
func programs() (string, error) {
	found, err := filepath.Glob(binaries)
	if err != nil {
		return "", fmt.Errorf("find PostgreSQL: %w", err)
	}
	newest, dir := -1.0, ""
	for _, path := range found {
		bin := filepath.Dir(path)
		version, err := strconv.ParseFloat(filepath.Base(filepath.Dir(bin)), 64)
		if err == nil && version > newest {
			newest, dir = version, bin
		}
	}
	if dir == "" {
		return "", fmt.Errorf("PostgreSQL is not installed, there is no %s: install Debian's package %s", binaries, debianPackage)
	}
	return dir, nil
}

// ensureData makes the data directory, unless it is there. It gets its name once it is
// complete.
func ensureData(ctx context.Context, bin string, who account, o Options) error {
	if _, err := os.Stat(o.data()); err == nil {
		return nil
	}
	o.Progress("making PostgreSQL's data directory")
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return fmt.Errorf("make directory of PostgreSQL: %w", err)
	}
	fresh := o.data() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return fmt.Errorf("remove what is left of an interrupted start: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return fmt.Errorf("make data directory of PostgreSQL: %w", err)
	}
	if err := os.WriteFile(passwordFile(o.Dir), []byte(rand.Text()), 0o600); err != nil {
		return fmt.Errorf("keep the password of PostgreSQL: %w", err)
	}
	for _, path := range []string{o.Dir, fresh, passwordFile(o.Dir)} {
		if err := who.own(path); err != nil {
			return err
		}
	}
	if err := who.checkReach(o.Dir); err != nil {
		return err
	}
	if err := initialize(ctx, bin, who, o.Dir, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, o.data()); err != nil {
		return fmt.Errorf("finish the data directory of PostgreSQL: %w", err)
	}
	return nil
}

func initialize(ctx context.Context, bin string, who account, dir, data string) error {
	line := who.command(filepath.Join(bin, "initdb"), "--pgdata="+data, "--no-sync", "--username="+role,
		"--pwfile="+passwordFile(dir), "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C")
	cmd := exec.CommandContext(ctx, line[0], line[1:]...) // #nosec G204 -- a program of PostgreSQL
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initialize PostgreSQL in %s: %w: %s", data, err, out)
	}
	// It replaces a file that the account owns already.
	if err := os.WriteFile(filepath.Join(data, "pg_hba.conf"), []byte(hostAccess), 0o600); err != nil {
		return fmt.Errorf("open PostgreSQL to those who know the password: %w", err)
	}
	return nil
}

func passwordFile(dir string) string { return filepath.Join(dir, "password") }

func readPassword(dir string) (string, error) {
	data, err := os.ReadFile(passwordFile(dir))
	if err != nil {
		return "", fmt.Errorf("read the password of PostgreSQL: %w", err)
	}
	return strings.TrimSpace(string(data)), nil
}
