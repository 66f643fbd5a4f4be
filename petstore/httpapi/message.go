package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// messages are the operations on messages.
type messages struct {
	queue petstore.Messages
}

func (m messages) resources() []resource {
	return []resource{
		{path: "/messages", allow: "POST", operations: []operation{
			{name: "submitMessage", method: http.MethodPost, pattern: "POST /messages", do: m.submit},
		}},
	}
}

// submit is submitMessage (contract, section 4.4). The contract does not show
// the status of success; the message is only queued, which is what 202 says.
func (m messages) submit(x *exchange) error {
	message, err := submit(x, decodeText, m.queue.SubmitMessage)
	if err != nil {
		return err
	}
	body, err := appendMessage(x.buf[:0], message)
	return x.reply(http.StatusAccepted, body, err)
}

// appendMessage appends a message's wire form. createdAt is in RFC 3339, in
// UTC, whatever zone the queue's clock is in.
func appendMessage(dst []byte, m petstore.Message) ([]byte, error) {
	m.CreatedAt = m.CreatedAt.UTC()
	b, err := json.Marshal(m)
	if err != nil {
		return dst, &petstore.Error{Code: petstore.CodeInternal, Err: err}
	}
	return append(dst, b...), nil
}
