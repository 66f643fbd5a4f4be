// Package systemtest tests the whole system with other software, such as the proxies
// that stand before a server. It is a module of its own, so that programs that
// import the petstore do not depend on that software. Its tests hold these promises of
// docs/operations.md:
//
//   - TestNginx: deploy/nginx.conf is an example of a proxy
//   - TestPage: what the web page does, and how long it keeps the key
//   - TestPrometheus: the metrics, and the queries and alerts for them
//   - TestScripts/admin: the paths of the admin address, and what it refuses
//   - TestScripts/backup: backups, and what a start does if there are some
//   - TestScripts/damage: from a damaged file to a working server; the exit codes
//   - TestScripts/import: export and import, also of pets from elsewhere
//   - TestScripts/keys: a running server follows its key file; a full disk changes no keys
//   - TestScripts/log: what is logged, and that a log without a reader delays no stop
//   - TestScripts/start: the first start, -must-exist, TLS, -messages-addr, the stop
//   - TestScripts/wrong-use: the exit codes and the help of refserver and conformance
package systemtest
