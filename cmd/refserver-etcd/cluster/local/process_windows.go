package local

import (
	"errors"
	"syscall"
)

func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// Pause is not supported on Windows.
func (p *child) Pause() error { return errors.ErrUnsupported }

// Resume is not supported on Windows.
func (p *child) Resume() error { return errors.ErrUnsupported }
