package postgres

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// account returns the user and group ID that PostgreSQL runs as: this process's, or
// those of the user postgres if this process runs as root, which PostgreSQL refuses.
func account() (uid, gid int, err error) {
	if os.Getuid() != 0 {
		return os.Getuid(), os.Getgid(), nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, err
	}
	uid, _ = strconv.Atoi(u.Uid) // they are numbers on Linux
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid, nil
}

// own makes a directory that belongs to the account. If it exists, it only changes
// the owner.
func own(dir string) error {
	uid, gid, err := account()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// prepare makes the command run as the account, and get the signal when this process
// ends, even if it crashes.
func prepare(cmd *exec.Cmd, atEnd syscall.Signal) error {
	uid, gid, err := account()
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid), NoSetGroups: true}, // only root can set groups
		Pdeathsig:  atEnd,
	}
	return err
}
