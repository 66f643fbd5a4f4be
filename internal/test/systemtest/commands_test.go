package systemtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"example.com/animalstore/internal/test/process"
)

// TestScripts runs the scripts in testdata. They have the commands of package
// testscript and these:
//
//	start FLAG...                     starts a server, which is used from now on, and sets
//	                                  URL, HOST, MESSAGES, ADMIN, PID and, if it prints one, KEY
//	terminate, crash                  ends the server (stop and kill are of testscript)
//	ends CODE                         waits until the server ends with that exit code
//	fails CODE PROGRAM ARG...         runs a program, which must end with that code and print one line
//	                                  to stderr, which begins with its name
//	send STATUS METHOD TARGET [BODY [FIELD VALUE]...]
//	                                  sends a request, as process.Server.Send does; stdout is the body
//	until STATUS METHOD TARGET [BODY [FIELD VALUE]...]
//	                                  repeats a request until it has that status; 0: no response
//	begin                             sends a request without its body
//	log PATTERN                       waits until the server has logged that; ! log compares at once
//	capture NAME PATTERN              sets a variable to the first group that matches in stdout
func TestScripts(t *testing.T) {
	t.Parallel()
	exe := process.Build(t, refserver)
	suite := process.Build(t, "example.com/animalstore/cmd/conformance")
	docs, err := filepath.Abs("../../../docs")
	if err != nil {
		t.Fatal(err)
	}
	type serverKey struct{}
	server := func(ts *testscript.TestScript) **process.Server { return ts.Value(serverKey{}).(**process.Server) }
	command := func(f func(ts *testscript.TestScript, s *process.Server, args []string)) func(*testscript.TestScript, bool, []string) {
		return func(ts *testscript.TestScript, _ bool, args []string) { f(ts, *server(ts), args) }
	}
	send := func(s *process.Server, args []string) (ok bool, r process.Response, err error) {
		args = append(args, "")
		fields := args[min(4, len(args)-1) : len(args)-1]
		r, err = s.Send(args[1], args[2], args[3], fields...)
		return strconv.Itoa(r.Status) == args[0], r, err
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(exe)+":"+filepath.Dir(suite)+":"+env.Getenv("PATH"))
			env.Setenv("DOCS", docs)
			env.Values[serverKey{}] = new(*process.Server)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start": func(ts *testscript.TestScript, _ bool, args []string) {
				s, err := process.TryServe(t, process.Command(ts.Getenv("WORK"), append([]string{exe, "-addr=127.0.0.1:0"}, args...)...))
				ts.Check(err)
				ts.Defer(s.Kill)
				*server(ts) = s
				ts.Setenv("URL", s.URL)
				ts.Setenv("HOST", s.Host())
				ts.Setenv("ADMIN", s.Admin)
				ts.Setenv("MESSAGES", s.Messages)
				ts.Setenv("PID", strconv.Itoa(s.Pid()))
				ts.Setenv("KEY", s.Key)
				fmt.Fprint(ts.Stdout(), s.Stdout.String())
			},
			"terminate": command(func(ts *testscript.TestScript, s *process.Server, _ []string) {
				ts.Check(s.Signal(os.Interrupt))
				if code := s.Wait(); code != 0 {
					ts.Fatalf("exit code %d:\n%s", code, s.Tail())
				}
			}),
			"crash": command(func(_ *testscript.TestScript, s *process.Server, _ []string) { s.Kill() }),
			"ends": command(func(ts *testscript.TestScript, s *process.Server, args []string) {
				if code := s.Wait(); strconv.Itoa(code) != args[0] {
					ts.Fatalf("exit code %d:\n%s", code, s.Tail())
				}
			}),
			"fails": func(ts *testscript.TestScript, _ bool, args []string) {
				const script = `code=$1; shift; "$@" 2>error; got=$?; cat error >&2
					test $got = $code && test $(wc -l <error) = 1 && grep -q "^$1: " error`
				ts.Check(ts.Exec("sh", append([]string{"-c", script, "sh"}, args...)...))
			},
			"send": command(func(ts *testscript.TestScript, s *process.Server, args []string) {
				ok, r, err := send(s, args)
				if !ok {
					ts.Fatalf("%d %s (%v)", r.Status, r.Body, err)
				}
				fmt.Fprint(ts.Stdout(), r.Body)
			}),
			"until": command(func(ts *testscript.TestScript, s *process.Server, args []string) {
				ts.Check(s.Process.Until(strings.Join(args, " "), func() bool {
					ok, _, _ := send(s, args)
					return ok
				}))
			}),
			"begin": command(func(ts *testscript.TestScript, s *process.Server, _ []string) {
				conn, err := net.Dial("tcp", s.Host())
				ts.Check(err)
				ts.Defer(func() { conn.Close() })
				_, _ = io.WriteString(conn, "POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "+s.Key+"\r\nContent-Type: application/json\r\n"+
					"Expect: 100-continue\r\nContent-Length: 30\r\n\r\n")
				_, err = bufio.NewReader(conn).ReadString('\n')
				ts.Check(err)
			}),
			"log": func(ts *testscript.TestScript, neg bool, args []string) {
				s, pattern := *server(ts), regexp.MustCompile(args[0])
				matches := func() bool { return pattern.MatchString(s.Stderr.String()) }
				if !neg {
					ts.Check(s.Process.Until(args[0], matches))
				} else if matches() {
					ts.Fatalf("%s", s.Tail())
				}
			},
			"capture": func(ts *testscript.TestScript, _ bool, args []string) {
				m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
				if m == nil {
					ts.Fatalf("no match in %q", ts.ReadFile("stdout"))
				}
				ts.Setenv(args[0], m[1])
			},
		},
	})
}
