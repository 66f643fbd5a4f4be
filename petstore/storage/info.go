package storage

// Info describes the file that [Open] found, or made.
type Info struct {
	Path   string // absolute
	New    bool   // Open made the file
	Pets   int64  // how many the file held
	Schema int    // version of the file's layout
}

// Info returns what Open found.
func (s *Store) Info() Info { return s.found }
