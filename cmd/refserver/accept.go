package main

import (
	"errors"
	"fmt"

	"example.com/animalstore/cmd/internal/serve"
	"example.com/animalstore/petstore/storage"
)

// acceptCommand makes a file usable whose last commit may be lost.
func acceptCommand() serve.Command {
	return serve.Command{
		Name: "accept-older",
		Args: "FILE",
		About: "go back to the state before the last commit, in a file that a crash left with a damaged meta page," +
			" and print the IDs from which on records may be lost. Copy the file first. If there is a newer backup, use that",
		Run: func(c *serve.Call) error {
			if len(c.Args) != 1 {
				return &serve.UsageError{Message: "accept-older needs one FILE"}
			}
			pet, message, err := storage.AcceptOlder(c.Args[0], nil)
			switch {
			case errors.Is(err, storage.ErrLocked):
				return errors.New(inUse(c.Args[0], "check"))
			case err != nil:
				return err
			}
			_, err = fmt.Fprintf(c.Stdout, "%s can be used again. Pets from ID %d on and messages from msg_%d on may be lost, and their IDs may be issued again.\n",
				c.Args[0], pet, message)
			return err
		},
	}
}
