//go:build !linux

package local

import "errors"

func newNamespaces() (network, error) { return nil, ErrNoNamespaces }

func enter(string) error { return errors.ErrUnsupported }
