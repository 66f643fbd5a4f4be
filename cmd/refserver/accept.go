package main

import (
	"errors"
	"fmt"

	"example.com/animalstore/internal/flags"
	"example.com/animalstore/petstore/storage"
)

// acceptCommand makes a file usable again that may have lost its last commit.
func acceptCommand() flags.Command {
	return flags.Command{
		Name: "accept-older",
		Args: "FILE",
		About: "make a file usable that has a damaged meta page after a crash: keep the state of the other meta page," +
			" even if it is the older, and print the IDs from which on records may be lost." +
			" Copy the file first. If there is a newer backup, use that",
		Run: func(c *flags.Call) error {
			path := c.Args[0]
			pet, message, err := storage.AcceptOlder(path, nil)
			if errors.Is(err, storage.ErrLocked) {
				return inUse(path, "check")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s can be used again. Pets from ID %d on and messages from msg_%d on may be lost, and their IDs may be issued again.\n",
				path, pet, message)
			return err
		},
	}
}
