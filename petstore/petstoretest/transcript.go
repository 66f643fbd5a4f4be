package petstoretest

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// transcript returns x as text, without API keys.
func (x *exchange) transcript() string {
	var b strings.Builder
	key := x.server.Key
	write(&b, '>', key, x.method+" "+x.target, x.sent, x.body)
	if x.cut {
		fmt.Fprintf(&b, "< (the connection was cut before the end of the response)\n")
	} else {
		write(&b, '<', key, fmt.Sprint(x.status, " ", http.StatusText(x.status)), x.header, x.response)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(b.String(), "\ufffd"), key, "[key]")
}

// maxBody is how many bytes of a body a transcript shows.
const maxBody = 500

// control matches a control character, which a terminal would interpret, except the
// tab and the line feed.
var control = regexp.MustCompile(`[\x00-\x08\x0b-\x1f\x7f-\x{9f}]`)

// write writes a request or a response. Each line starts with mark.
func write(b *strings.Builder, mark byte, key, start string, header http.Header, body []byte) {
	lines := []string{strconv.Quote(start)}
	lines[0] = lines[0][1 : len(lines[0])-1] // without the quotes
	for _, name := range slices.Sorted(maps.Keys(header)) {
		value := strings.Join(header[name], ", ")
		if name == "Authorization" && !strings.Contains(value, key) {
			value = "[another credential]" // which may be real
		}
		lines = append(lines, name+": "+value)
	}
	if len(body) > 0 {
		text := string(body[:min(len(body), maxBody)])
		if len(body) > maxBody {
			text += fmt.Sprintf(" ... and %d bytes more", len(body)-maxBody)
		}
		lines = append(append(lines, ""), strings.Split(strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n"), "\n")...)
	}
	for _, line := range lines {
		line = control.ReplaceAllStringFunc(line, func(c string) string { return strings.Trim(strconv.Quote(c), `"`) })
		fmt.Fprintln(b, strings.TrimRight(fmt.Sprintf("%c %s", mark, line), " \t"))
	}
}
