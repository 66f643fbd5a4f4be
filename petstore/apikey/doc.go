// Package apikey makes API keys, keeps their hashes in a file and checks the
// keys that requests bring (contract, section 5).
//
// # Keys
//
// A key is 256 random bits as text that can be told from other text, with a
// checksum that tells a mistyped key from an unknown one ([New], [Check]).
// Nobody but its owner keeps it: everything here works on its SHA-256. With
// that many random bits a plain hash is enough; there is nothing to guess, so
// nothing to slow down.
//
// # The key file
//
// One line a key: its id, the account that it stands for, the SHA-256 of the
// key in hexadecimal, when it was created and, if it ends, when it expires,
// with spaces or tabs between and both times as RFC 3339 has them:
//
//	# alice's laptop
//	0f2be01d8a3c alice 5f16…c9b2 2026-11-20T09:30:00Z
//	b1946ac92492 ci@example.com 03ba…77e4 2026-11-20T09:31:00Z 2027-11-20T09:31:00Z
//
// Blank lines and lines that start with # are comments. The last line ends in
// a newline like every other, so that a file cut short is seen; an empty file
// is taken for one cut short too, and a file without keys holds a comment.
//
// [Add] and [Revoke] change the file whole or not at all, keep its comments,
// and take turns, across processes too, by a lock on a file beside it, which is
// named as the key file with .lock added and is never removed. They refuse a
// key file that is a symbolic link, since the owner of its directory could
// make them change a file elsewhere; reading follows links. An editor that
// writes the file in place does not take the lock, but does no harm to a
// running server: see [File].
package apikey
