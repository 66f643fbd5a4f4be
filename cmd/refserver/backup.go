package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/internal/serve"
	"example.com/animalstore/petstore/apikey"
	"example.com/animalstore/petstore/storage"
)

// backupCommand copies the store of a running server.
func backupCommand() flags.Command {
	var admin string
	return flags.Command{
		Name: "backup",
		Args: "FILE",
		About: "copy the store of a running server to a new file while it serves, and check the copy." +
			" Until it is done, the server needs space for a second copy on the disk of its store",
		Flags: func(fs *flag.FlagSet) {
			fs.StringVar(&admin, "admin-addr", "", "`host:port` of the server's admin address, as set for serve")
		},
		Run: func(c *flags.Call) error {
			if _, _, err := net.SplitHostPort(admin); err != nil {
				return flags.Usagef("-admin-addr: must be host:port, the admin address of a running server, got %q", admin)
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			path, size := c.Args[0], int64(0)
			err := storage.SaveBackup(path, func(w io.Writer) (err error) {
				size, err = download(ctx, "http://"+admin+"/backup", w)
				return err
			})
			switch {
			case errors.Is(err, os.ErrExist):
				return fmt.Errorf("no backup was made: %s exists; choose another file", path)
			case err != nil:
				return fmt.Errorf("no backup was made: %w", err)
			}
			_, err = fmt.Fprintf(c.Stdout, "%s: %d bytes, checked\n", path, size)
			return err
		},
	}
}

func restoreCommand(db *string) flags.Command {
	var keys string
	return flags.Command{
		Name: "restore",
		Args: "COPY",
		About: "check a copy, put it in the place of the store, and keep the old file under another name. COPY is a file made with backup," +
			" a backup in -backup-dir, or that folder: then it is the newest backup that is sound, and its keys are restored if there is no key file." +
			" No server may use the store",
		Flags: func(fs *flag.FlagSet) {
			dbFlag(fs, db, "`file` to replace, or to create")
			serve.KeysFlag(fs, &keys)
		},
		Run: func(c *flags.Call) error {
			info, err := os.Stat(c.Args[0])
			if err == nil && info.IsDir() {
				return restoreFolder(c, *db, keys, c.Args[0])
			}
			return restoreFile(c, *db, c.Args[0])
		},
	}
}

// restoreFolder restores the backup in dir, or the newest sound one of those in dir.
func restoreFolder(c *flags.Call, db, keys, dir string) error {
	backups, err := serve.Backups(dir)
	if _, e := os.Stat(filepath.Join(dir, serve.BackupStore)); e == nil {
		backups = []string{dir}
	}
	if err == nil {
		err = fmt.Errorf("nothing was restored: %s has no backup", dir)
	}
	for _, path := range slices.Backward(backups) {
		err = restoreFile(c, db, filepath.Join(path, serve.BackupStore))
		if !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrForeign) {
			dir = path
			break
		}
		fmt.Fprintf(c.Stderr, "%s: %v\n", path, err)
	}
	if err != nil {
		return err
	}
	err = apikey.Copy(keys, filepath.Join(dir, serve.BackupKeys))
	switch {
	case errors.Is(err, fs.ErrExist):
		_, err = fmt.Fprintf(c.Stdout, "%s: not changed\n", keys)
	case err != nil:
		err = fmt.Errorf("the store was restored, but not the keys: %w", err)
	default:
		_, err = fmt.Fprintf(c.Stdout, "%s: restored too\n", keys)
	}
	return err
}

func restoreFile(c *flags.Call, db, copy string) error {
	kept, err := storage.Restore(db, copy)
	if err != nil {
		return fmt.Errorf("nothing was restored: %w", err)
	}
	_, err = fmt.Fprintf(c.Stdout, "%s: restored from %s, which was checked\n", db, copy)
	if kept != "" && err == nil {
		_, err = fmt.Fprintf(c.Stdout, "the file that was there is now %s\n", kept)
	}
	return err
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
