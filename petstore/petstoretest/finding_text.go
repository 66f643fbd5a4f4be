package petstoretest

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// transcript returns exchanges as text, without API keys.
func (w *watcher) transcript(exchanges ...*exchange) string {
	var b strings.Builder
	for i, x := range exchanges {
		if i > 0 {
			fmt.Fprintf(&b, "\n%.3f s later:\n", x.began.Sub(exchanges[i-1].ended).Seconds())
		}
		target := x.path
		if x.query != "" {
			target += "?" + x.query
		}
		message(&b, '>', x.method+" "+target, x.sent, x.body)
		if x.status == 0 {
			fmt.Fprintf(&b, "< (the connection was cut before the end of the response)\n")
		} else {
			message(&b, '<', fmt.Sprint(x.status, " ", http.StatusText(x.status)), x.header, x.response)
		}
	}
	text := b.String()
	for _, key := range w.keys {
		text = strings.ReplaceAll(text, key, "[key]")
	}
	return text
}

// maxBody is how many bytes of a body a transcript shows.
const maxBody = 500

// control matches a control character, which a terminal would interpret, except the
// tab.
var control = regexp.MustCompile(`[\x00-\x08\x0a-\x1f\x7f-\x{9f}]`)

// message writes a request or a response. Each line starts with mark.
func message(b *strings.Builder, mark byte, start string, header http.Header, body []byte) {
	lines := []string{start}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			lines = append(lines, name+": "+value)
		}
	}
	if len(body) > 0 {
		text, more := body, ""
		if len(body) > maxBody {
			text, more = body[:maxBody], fmt.Sprintf(" ... and %d bytes more", len(body)-maxBody)
		}
		text = bytes.ToValidUTF8(bytes.TrimSpace(text), []byte("\ufffd"))
		lines = append(append(lines, ""), strings.Split(string(text)+more, "\n")...)
	}
	for _, line := range lines {
		line = control.ReplaceAllStringFunc(strings.TrimSuffix(line, "\r"), func(c string) string {
			return strings.Trim(strconv.Quote(c), `"`)
		})
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%c %s", mark, line), " \t"))
	}
}
