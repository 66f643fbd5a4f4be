package report

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// browser is a headless Chromium with one page. It is driven over a pair of
// pipes (--remote-debugging-pipe), which carry JSON with a NUL after each
// message: no port, and no library for it.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	session string
	last    int

	// trouble has the errors of the page: exceptions, violations of its policy,
	// and requests for other resources.
	trouble []string
	loaded  bool
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := findChromium()
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("chromium is not installed")
		}
		t.Skip("chromium is not installed: the page is not looked at")
	}
	theirIn, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
		"--remote-debugging-pipe", "--user-data-dir="+t.TempDir())
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // its descriptors 3 and 4
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	kill := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		in.Close()
		io.Copy(io.Discard, out)
		cmd.Wait()
		kill.Stop()
	})

	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", object{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func findChromium() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

type object map[string]any

func (b *browser) send(method string, params object) {
	b.last++
	msg := object{"id": b.last, "method": method, "params": params}
	if params == nil {
		msg["params"] = object{}
	}
	if b.session != "" {
		msg["sessionId"] = b.session
	}
	text, err := json.Marshal(msg)
	if err != nil {
		b.t.Fatal(err)
	}
	b.in.Write(append(text, 0))
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params object, result any) {
	b.t.Helper()
	b.send(method, params)
	for {
		msg := b.read()
		if msg.ID != b.last {
			continue
		}
		if msg.Error != nil {
			b.t.Fatalf("%s: %s", method, msg.Error)
		}
		if result == nil {
			return
		}
		if err := json.Unmarshal(msg.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
		return
	}
}

type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
}

// read reads a message and records what it says about the page.
func (b *browser) read() message {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser is gone: %v", err)
	}
	var msg message
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &msg); err != nil {
		b.t.Fatal(err)
	}
	switch msg.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.trouble = append(b.trouble, string(msg.Params))
	case "Network.requestWillBeSent":
		var p struct{ DocumentURL, Type string }
		if json.Unmarshal(msg.Params, &p); p.Type != "Document" {
			b.trouble = append(b.trouble, "it loads something: "+string(msg.Params))
		}
	case "Page.loadEventFired":
		b.loaded = true
	}
	return msg
}

// open shows a page.
func (b *browser) open(url string) {
	b.t.Helper()
	b.loaded = false
	b.call("Page.navigate", object{"url": url}, nil)
	for !b.loaded {
		b.read()
	}
}

// look sets the size of the window in CSS pixels, and light or dark.
func (b *browser) look(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// eval evaluates an expression in the page and returns its value in v.
func (b *browser) eval(v any, format string, args ...any) {
	b.t.Helper()
	expression := fmt.Sprintf(format, args...)
	var got struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}, &got)
	if got.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, got.ExceptionDetails)
	}
	if v == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, v); err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// click clicks in the middle of the first element that a selector finds, as a
// mouse does.
func (b *browser) click(selector string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	b.eval(&at, `(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect();
		return {x: r.x + r.width / 2, y: r.y + r.height / 2};
	})()`, selector)
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", object{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

func (b *browser) typeText(text string) {
	b.t.Helper()
	b.call("Input.insertText", object{"text": text}, nil)
}

// screenshot returns what the window shows as a PNG.
func (b *browser) screenshot() []byte {
	b.t.Helper()
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", object{"format": "png"}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}
