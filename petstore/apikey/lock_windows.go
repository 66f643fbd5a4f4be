package apikey

import "os"

func lock(*os.File) error { return nil }
