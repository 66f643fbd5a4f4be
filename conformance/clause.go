package conformance

import "slices"

// Clause is one statement that checks rest on, in the suite's own words.
type Clause struct {
	ID      string `json:"id"`
	Section string `json:"section"` // of the contract, or of an RFC
	Text    string `json:"text"`

	// Untestable says why no check can hold a target to a statement of the
	// contract; empty if one does.
	Untestable string `json:"untestable,omitzero"`

	// Open marks what the contract leaves open: targets are observed, not
	// judged.
	Open bool `json:"open,omitzero"`
}

// Clauses returns every clause: the contract's statements, then what it
// leaves open, then what RFCs ask for.
func Clauses() []Clause {
	return slices.Concat(contractClauses(), openClauses(), rfcClauses())
}

// FindClause returns the clause with that id.
func FindClause(id string) (Clause, bool) {
	clauses := Clauses()
	i := slices.IndexFunc(clauses, func(c Clause) bool { return c.ID == id })
	if i < 0 {
		return Clause{}, false
	}
	return clauses[i], true
}

// clauseOf returns the clause that c rests on.
func clauseOf(c Check) Clause {
	cl, _ := FindClause(c.Clause) // a test holds the two tables together
	return cl
}

func contractClauses() []Clause {
	const (
		description = "it is a property of the interface description, which no operation shows"
		notShown    = "the contract says itself that it is not shown"
	)
	return []Clause{
		{ID: "tag", Section: "1", Text: "The operations on pets stand in a group named animals.", Untestable: description},
		{ID: "base", Section: "1, 9", Text: "Production and staging have base addresses that end in the segment v1.",
			Untestable: "it is about two deployments, and the suite judges whatever address it is given"},
		{ID: "name", Section: "2.1, 2.2", Text: "A pet has a name, a string; it is returned as it was given."},
		{ID: "category", Section: "2.1, 2.2", Text: "A pet has a categoryId, an integer of format int64; it is returned as it was given."},
		{ID: "status-optional", Section: "2.1", Text: "The status may be absent when a pet is added."},
		{ID: "pet", Section: "2.2", Text: "A returned pet has all the fields of a new one, each of its type, and an id."},
		{ID: "id", Section: "2.2", Text: "The id is an integer of format int64, the same wherever the pet is returned."},
		{ID: "id-unique", Section: "2.2", Text: "The id is assigned on creation and unique."},
		{ID: "array", Section: "2.3", Text: "A list is a bare array of pets, not wrapped in an object; one of no pets is empty."},
		{ID: "status-values", Section: "2.4", Text: "A status is exactly one of available, pending and sold."},
		{ID: "error-code", Section: "2.5, 7", Text: "An error body has a code, a string."},
		{ID: "error-message", Section: "2.5, 7", Text: "An error body has a message, a string."},
		{ID: "error-status", Section: "2.5, 7", Text: "An error body has a status, an integer equal to the answer's HTTP status."},
		{ID: "category-record", Section: "2.6", Text: "A categoryId refers to a category.", Untestable: "no operation shows categories, and whether an unknown one is refused is not said"},
		{ID: "message-id", Section: "2.7", Text: "A message record has an id, a string that identifies the message."},
		{ID: "message-text", Section: "2.7", Text: "A message record echoes the submitted text in message."},
		{ID: "message-status", Section: "1, 2.7, 3.2, 4.4", Text: "A submitted message is queued, and the status of its record reads queued."},
		{ID: "message-time", Section: "2.7", Text: "A message record has createdAt, the time of its creation as an ISO 8601 timestamp in UTC."},
		{ID: "status-set", Section: "3.1", Text: "A pet's status is the one given on creation."},
		{ID: "status-changes", Section: "3.1, 3.2", Text: "How a status changes.", Untestable: notShown},
		{ID: "media-type", Section: "4", Text: "The operations on pets take and return application/json."},
		{ID: "list", Section: "1, 4.1", Text: "GET /pets answers 200 with a list of pets."},
		{ID: "list-shows", Section: "4.1", Text: "The list holds the store's pets as they are: each once, those just added too."},
		{ID: "limit", Section: "4.1", Text: "The query parameter limit is the most pets that a list holds."},
		{ID: "limit-default", Section: "4.1, 8", Text: "Without limit a list holds up to 20 pets."},
		{ID: "limit-min", Section: "4.1, 8", Text: "The least limit is 1."},
		{ID: "limit-max", Section: "4.1, 8", Text: "The greatest limit is 100."},
		{ID: "filter", Section: "3.1, 4.1", Text: "The query parameter status selects the pets of that status, no others and no fewer."},
		{ID: "filter-limit", Section: "4.1", Text: "With status and limit a list holds up to limit pets of that status."},
		{ID: "pages", Section: "4.1", Text: "How to reach further pages.", Untestable: notShown},
		{ID: "create", Section: "1, 4.2", Text: "POST /pets with a NewPet answers 201 with the pet as it was added."},
		{ID: "create-adds", Section: "4.2", Text: "The pet is in the store once the answer has come, and creations at the same time do not disturb each other."},
		{ID: "create-body", Section: "4.2, 7", Text: "A body that is missing, or no NewPet in JSON, gets 400."},
		{ID: "create-required", Section: "4.2, 7", Text: "A body without name or without categoryId gets 400."},
		{ID: "create-values", Section: "4.2, 7", Text: "A body with a value that its field does not allow gets 400."},
		{ID: "create-refused", Section: "4.2", Text: "A creation that is refused adds nothing."},
		{ID: "get", Section: "1, 4.3", Text: "GET /pets/{petId} answers 200 with the pet of that id."},
		{ID: "get-missing", Section: "4.3, 7", Text: "GET /pets/{petId} answers 404 if no pet has that id."},
		{ID: "submit", Section: "1, 4.4", Text: "POST /messages with a message succeeds and returns its record."},
		{ID: "message-json", Section: "4.4, 7", Text: "POST /messages with a body that is not valid JSON, or no object, gets 400."},
		{ID: "message-required", Section: "4.4, 7", Text: "POST /messages without the string message gets 400."},
		{ID: "message-type", Section: "4.4", Text: "POST /messages without a Content-Type gets 400."},
		{ID: "other", Section: "4.5", Text: "Further groups and GET /store/orders.", Untestable: notShown},
		{ID: "key-list", Section: "4.1, 5, 7", Text: "GET /pets with a missing or wrong credential gets 401."},
		{ID: "key-create", Section: "4.2, 5, 7", Text: "POST /pets with a missing or wrong credential gets 401, and adds nothing."},
		{ID: "key-get", Section: "4.3, 5, 7", Text: "GET /pets/{petId} with a missing or wrong credential gets 401."},
		{ID: "key-messages", Section: "4.4, 5, 7", Text: "POST /messages with a missing or wrong credential gets 401."},
		{ID: "key-first", Section: "5", Text: "Every operation requires the credential: without it a request gets 401 whatever else is wrong with it."},
		{ID: "key-obtained", Section: "5", Text: "A key comes from making an account and generating one.", Untestable: "the contract has no operation for it"},
		{ID: "key-life", Section: "5", Text: "How long a key lives, its scopes, how it is revoked.", Untestable: notShown},
		{ID: "events", Section: "6", Text: "Events, webhooks, notifications.", Untestable: notShown},
		{ID: "error-type", Section: "7", Text: "An error body is application/json."},
		{ID: "error-codes", Section: "7", Text: "The set of values of code.", Untestable: notShown},
		{ID: "server-errors", Section: "4, 7", Text: "A bad request is the client's error: it is answered as one, not with 5xx."},
		{ID: "other-limits", Section: "8", Text: "Rate limits and size limits.", Untestable: notShown},
		{ID: "version", Section: "9", Text: "The interface description has the version 1.0.0.", Untestable: description},
		{ID: "sunset", Section: "4.3, 9", Text: "GET /pets/{petId} is scheduled for removal on 5 December 2030 and works until then."},
		{ID: "replacement", Section: "4.3, 9", Text: "GET /pets with status replaces GET /pets/{petId}: it shows the same pets."},
		{ID: "stability", Section: "9", Text: "Endpoints may carry a stability marker.", Untestable: description},
	}
}

func openClauses() []Clause {
	return []Clause{
		{ID: "open-limit", Section: "4.1", Text: "What a limit that is no integer from 1 to 100 gets.", Open: true},
		{ID: "open-filter", Section: "4.1", Text: "What a status filter outside the enumeration gets.", Open: true},
		{ID: "open-query", Section: "4.1", Text: "What unknown and repeated query parameters get.", Open: true},
		{ID: "open-order", Section: "4.1", Text: "The order of a list.", Open: true},
		{ID: "open-pages", Section: "4.1", Text: "Whether an answer leads to further pages.", Open: true},
		{ID: "open-default", Section: "2.1", Text: "The status of a pet that was added without one.", Open: true},
		{ID: "open-name", Section: "2.1", Text: "Which names are refused: empty, very long, of control characters.", Open: true},
		{ID: "open-category", Section: "2.6", Text: "Which categories are refused.", Open: true},
		{ID: "open-members", Section: "2.1", Text: "What members that the contract does not name do in a request.", Open: true},
		{ID: "open-numbers", Section: "2.1", Text: "Whether 1.0 and 1e2 are taken for integers.", Open: true},
		{ID: "open-json", Section: "4.2", Text: "What a byte order mark and a lone surrogate in a body get.", Open: true},
		{ID: "open-media", Section: "4", Text: "What a request to add a pet with another Content-Type, or none, gets.", Open: true},
		{ID: "open-twice", Section: "4.2", Text: "What adding the same pet twice gives.", Open: true},
		{ID: "open-id", Section: "4.3", Text: "What a petId that is no int64 gets.", Open: true},
		{ID: "open-key", Section: "5", Text: "What odd spellings of a valid credential get.", Open: true},
		{ID: "open-message", Section: "4.4", Text: "The status code, media type and header fields of a successful submission, and which texts are refused.", Open: true},
		{ID: "open-options", Section: "4", Text: "What OPTIONS and unknown paths get.", Open: true},
	}
}

func rfcClauses() []Clause {
	return []Clause{
		{ID: "rfc-duplicates", Section: "RFC 8259, 4", Text: "The names within an object should be unique."},
		{ID: "rfc-utf8", Section: "RFC 8259, 8.1", Text: "JSON between systems is UTF-8."},
		{ID: "rfc-head", Section: "RFC 9110, 9.1", Text: "A server supports HEAD wherever it supports GET."},
		{ID: "rfc-location", Section: "RFC 9110, 15.3.2", Text: "A 201 names the new resource in Location."},
		{ID: "rfc-allow", Section: "RFC 9110, 15.5.6", Text: "A method that a resource does not support gets 405, with the supported ones in Allow."},
		{ID: "rfc-challenge", Section: "RFC 9110, 15.5.2", Text: "A 401 has a WWW-Authenticate that challenges for the scheme."},
		{ID: "rfc-scheme", Section: "RFC 9110, 11.1", Text: "The name of an authentication scheme is the same in any case."},
		{ID: "rfc-chunked", Section: "RFC 9112, 7.1", Text: "A recipient understands the chunked transfer coding."},
		{ID: "rfc-deprecation", Section: "RFC 9745, 2", Text: "A deprecated resource says so in Deprecation, as a date."},
		{ID: "rfc-sunset", Section: "RFC 8594, 3", Text: "A resource that will go away says when in Sunset."},
	}
}
