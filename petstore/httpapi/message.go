package httpapi

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
)

// submitMessage is the operation of section 4.4 of the contract. The contract does
// not state the status of success; 202 says that the message is only queued.
func (h *handler) submitMessage(ctx context.Context, r *http.Request) (response, error) {
	text, key, err := readRequest(r, h.opts.MaxBodyBytes, Account(ctx), decodeText)
	if err != nil {
		return response{}, err
	}
	message, err := h.opts.Messages.SubmitMessage(ctx, text, key)
	if err != nil {
		return response{}, err
	}
	body, err := json.Marshal(message)
	return response{status: http.StatusAccepted, body: body}, err
}
