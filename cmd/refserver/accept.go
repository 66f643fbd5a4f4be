package main

import (
	"fmt"

	"example.com/animalstore/cmd/internal/serve"
	"example.com/animalstore/petstore/storage"
)

// acceptCommand makes a file usable whose last commit may be lost.
func acceptCommand() serve.Command {
	return serve.Command{
		Name: "accept-older",
		Args: "FILE",
		About: "use the older of the two states in a file whose meta page was damaged after a crash," +
			" and print the first IDs that may be issued again. Prefer a backup, and copy the file first",
		Run: func(c *serve.Call) error {
			if len(c.Args) != 1 {
				return &serve.UsageError{Message: "accept-older needs one FILE"}
			}
			pet, message, err := storage.AcceptOlder(c.Args[0], nil)
			if err != nil {
				return advise(err)
			}
			_, err = fmt.Fprintf(c.Stdout, "%s can be used again. Pets from ID %d on and messages from msg_%d on may be lost, and their IDs may be issued again.\n",
				c.Args[0], pet, message)
			return err
		},
	}
}
