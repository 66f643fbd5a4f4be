package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"
)

// submitMessage is the operation of section 4.4 of the contract. The contract does
// not state the status of success; 202 says that the message is only queued.
func (c *call) submitMessage() (response, error) {
	text, key, err := readRequest(c, decodeText)
	if err != nil {
		return response{}, err
	}
	message, err := c.h.opts.Messages.SubmitMessage(c.ctx, text, key)
	if err != nil {
		return response{}, err
	}
	body, err := json.Marshal(message)
	return response{http.StatusAccepted, body}, err
}
