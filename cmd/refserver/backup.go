package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// backupCommand copies the store of a running server. The copy gets its name
// once it is complete, checked and on disk, and replaces a file only with
// -overwrite.
func backupCommand() flags.Command {
	var admin string
	var overwrite bool
	return flags.Command{
		Name: "backup",
		Args: "FILE",
		About: "copy the store of a running server to a new file while it serves, and check the copy." +
			" Until it is done, the server needs space for a second copy on the disk of its store",
		Flags: func(fs *flag.FlagSet) {
			flags.Var(fs, &admin, "admin-addr", "", "`host:port` of the server's admin address, as set for serve", flags.HostPort)
			flags.Var(fs, &overwrite, "overwrite", false, "replace FILE if there is one", flags.Bool)
		},
		Run: func(c *flags.Call) error {
			if admin == "" {
				return flags.Usagef("backup needs -admin-addr host:port, the admin address of a running server")
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			size, err := backUp(ctx, "http://"+admin+"/backup", c.Args[0], overwrite)
			if err != nil {
				return fmt.Errorf("no backup was made: %w", err)
			}
			_, err = fmt.Fprintf(c.Stdout, "%s: %d bytes, checked\n", c.Args[0], size)
			return err
		},
	}
}

// backUp copies what is at url to path and returns its length in bytes.
func backUp(ctx context.Context, url, path string, overwrite bool) (int64, error) {
	if _, err := os.Lstat(path); err == nil && !overwrite {
		return 0, fmt.Errorf("%s exists; choose another file, or use -overwrite", path)
	}
	if errors.Is(storage.InUse(path), storage.ErrLocked) {
		return 0, fmt.Errorf("%s is in use by a server; choose another file", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	size, err := download(ctx, url, f)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	var damage error
	err = storage.Check(f.Name(), func(err error) {
		if damage == nil {
			damage = fmt.Errorf("the copy is damaged, by the store or by the network: %w", err)
		}
	})
	if err := errors.Join(err, damage); err != nil {
		return 0, err
	}
	if overwrite {
		err = os.Rename(f.Name(), path)
	} else if err = os.Link(f.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		err = os.Rename(f.Name(), path) // a file system without links
	}
	if err != nil {
		return 0, err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // some systems cannot
		_ = dir.Close()
	}
	return size, nil
}

// download writes what is at url to w. It returns an error unless that is all of
// it.
func download(ctx context.Context, url string, w io.Writer) (int64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK || resp.ContentLength < 0 {
		if resp.StatusCode == http.StatusNotFound {
			return 0, fmt.Errorf("%s has no backups: is this the admin address of the server?", req.URL.Host)
		}
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 1000))
		return 0, fmt.Errorf("the server responded with %s: %s", resp.Status, strings.TrimSpace(string(b)))
	}
	n, err := io.Copy(w, resp.Body)
	if err != nil {
		err = fmt.Errorf("after %d of %d bytes: %w", n, resp.ContentLength, err)
	}
	return n, err
}
