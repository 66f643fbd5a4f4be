package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/petstore"
)

// messages has the operation on messages.
type messages struct {
	queue petstore.Messages
}

func (m messages) resource() resource {
	return resource{path: "/messages", allow: "POST", operations: []operation{
		{name: "submitMessage", method: http.MethodPost, pattern: "POST /messages", do: m.submit},
	}}
}

// submit is submitMessage (contract, section 4.4). The contract does not show
// the status of success. 202 says that the message is only queued.
func (m messages) submit(x *exchange) (response, error) {
	text, once, err := readRequest(x, decodeText)
	if err != nil {
		return response{}, err
	}
	message, err := m.queue.SubmitMessage(x.ctx, text, once)
	if err != nil {
		return response{}, err
	}
	message.CreatedAt = message.CreatedAt.UTC() // the queue's clock may be in another zone
	body, err := encoded(json.Marshal(message))
	return response{http.StatusAccepted, body}, err
}
