package conformance

import "slices"

// clauseTable returns every clause, without its checks.
func clauseTable() []Clause {
	const (
		keptExactly = "A client must get back what it stored."
		mistake     = "A client must learn that its request is wrong, or something is added that it did not mean."
		noAccess    = "Without a valid key there is no access."
		sameErrors  = "Clients read every error in the same way."
		pageSize    = "Clients choose the size of their pages by it."
		warnsUsers  = "Tools warn clients that still use the operation."
	)
	stated := []Clause{
		{ID: "response", Section: "4", Text: "Every request gets the whole response that the contract describes.", Why: "A client that gets half a response, or none, does not know whether a pet was added."},
		{ID: "list", Section: "1, 4.1", Text: "GET /pets always responds 200 with a list of pets.", Why: "It is the only way to see what the store has."},
		{ID: "create", Section: "1, 4.2", Text: "POST /pets with a NewPet responds 201 with the pet as it was added.", Why: "201 tells a client that the pet was added."},
		{ID: "get", Section: "1, 4.3", Text: "GET /pets/{petId} responds 200 with the pet that has the id, and works until its removal on 5 December 2030.", Why: "No operation of the contract removes a pet."},
		{ID: "submit", Section: "1, 4.4", Text: "POST /messages with a message succeeds and returns its record.", Why: "It is the purpose of the operation."},
		{ID: "name", Section: "2.1, 2.2", Text: "A pet has a name, a string. It is returned as it was sent.", Why: keptExactly},
		{ID: "category", Section: "2.1, 2.2", Text: "A pet has a categoryId, an integer of format int64. It is returned as it was sent.", Why: "An int64 that is converted to floating point changes."},
		{ID: "status-optional", Section: "2.1", Text: "The status may be absent when a pet is added.", Why: "The status is optional."},
		{ID: "pet", Section: "2.2", Text: "A returned pet has all the fields of a new pet, each of its type, and an id.", Why: "Typed clients fail on the first pet that is invalid."},
		{ID: "id", Section: "2.2", Text: "The id is an integer of format int64, the same in every response with the pet.", Why: "A client would mistake one pet for another."},
		{ID: "id-unique", Section: "2.2", Text: "The id is assigned on creation and unique.", Why: "If two pets have the same id, one hides the other."},
		{ID: "array", Section: "2.3", Text: "A list is a bare array of pets, not wrapped in an object. Without pets it is empty.", Why: "A client that expects an array cannot read an object around it, or null."},
		{ID: "status-values", Section: "2.4", Text: "A status is exactly one of available, pending and sold.", Why: mistake},
		{ID: "error-body", Section: "2.5, 7", Text: "An error has a body, an object in JSON.", Why: sameErrors},
		{ID: "error-code", Section: "2.5, 7", Text: "An error body has a code, a string.", Why: sameErrors},
		{ID: "error-message", Section: "2.5, 7", Text: "An error body has a message, a string.", Why: sameErrors},
		{ID: "error-status", Section: "2.5, 7", Text: "An error body has a status, an integer equal to the HTTP status of the response.", Why: sameErrors},
		{ID: "message-id", Section: "2.7", Text: "A message record has an id, a string that identifies the message.", Why: "An id that two messages have identifies neither."},
		{ID: "message-text", Section: "2.7", Text: "A message record repeats the submitted text in message.", Why: "A client sees what was understood."},
		{ID: "message-record", Section: "2.7", Text: "A message record has a status, a string.", Why: "Typed clients cannot read another type."},
		{ID: "message-time", Section: "2.7", Text: "A message record has createdAt, the time of its creation as an ISO 8601 timestamp in UTC.", Why: "Clients sort messages by it."},
		{ID: "status-set", Section: "3.1", Text: "The status of a pet is the one that was sent on creation.", Why: "The status is set on creation and nowhere else."},
		{ID: "media-type", Section: "4", Text: "The operations on pets return application/json.", Why: "Clients read a body by its media type, or refuse it."},
		{ID: "list-shows", Section: "4.1, 4.3, 9", Text: "A list has the pets of the store as they are. It replaces GET /pets/{petId}.", Why: "No client can find a pet that the list loses or changes."},
		{ID: "limit", Section: "4.1", Text: "The query parameter limit is the largest number of pets that a list has.", Why: pageSize},
		{ID: "limit-default", Section: "4.1, 8", Text: "Without limit a list has up to 20 pets.", Why: pageSize},
		{ID: "limit-max", Section: "4.1, 8", Text: "The smallest limit is 1 and the largest 100.", Why: "One request must not read the whole store."},
		{ID: "filter", Section: "3.1, 4.1", Text: "The query parameter status selects the pets with that status, all of them and no others.", Why: "A client would use pets that it did not ask for, or miss some."},
		{ID: "filter-limit", Section: "4.1", Text: "With status and limit a list has up to limit pets with that status.", Why: pageSize},
		{ID: "create-adds", Section: "4.2", Text: "The pet is in the store once the response is sent, once, and as it was sent. Concurrent requests do not disturb each other.", Why: "A client that adds a pet must find it, and others add pets at the same time."},
		{ID: "create-body", Section: "4.2, 7", Text: "A body that is missing, or not a NewPet in JSON, gets 400.", Why: mistake},
		{ID: "create-required", Section: "4.2, 7", Text: "A body without name or without categoryId gets 400.", Why: mistake},
		{ID: "create-values", Section: "4.2, 7", Text: "A body with a value that its field does not allow gets 400.", Why: mistake},
		{ID: "create-refused", Section: "4.2", Text: "A request that is refused adds nothing.", Why: "A client that corrects its request and repeats it would have the pet twice."},
		{ID: "get-missing", Section: "4.3, 7", Text: "GET /pets/{petId} responds 404 if no pet has the id.", Why: "A client must be able to distinguish a missing pet from an error, and from another pet."},
		{ID: "message-json", Section: "4.4, 7", Text: "POST /messages with a body that is not a JSON object gets 400.", Why: mistake},
		{ID: "message-required", Section: "4.4, 7", Text: "POST /messages without the string message gets 400.", Why: mistake},
		{ID: "message-type", Section: "4.4", Text: "POST /messages without a Content-Type gets 400.", Why: "The contract says so."},
		{ID: "key-list", Section: "4.1, 5, 7", Text: "GET /pets with a missing or wrong credential gets 401.", Why: noAccess},
		{ID: "key-create", Section: "4.2, 5, 7", Text: "POST /pets with a missing or wrong credential gets 401, and adds nothing.", Why: noAccess},
		{ID: "key-get", Section: "4.3, 5, 7", Text: "GET /pets/{petId} with a missing or wrong credential gets 401.", Why: noAccess},
		{ID: "key-messages", Section: "4.4, 5, 7", Text: "POST /messages with a missing or wrong credential gets 401.", Why: noAccess},
		{ID: "key-first", Section: "5", Text: "Every operation requires the credential. Without it a request gets 401, even if the pet does not exist or a parameter is wrong.", Why: "Without a valid key a client must not learn what is in the store."},
		{ID: "error-type", Section: "7", Text: "An error body is application/json.", Why: sameErrors},
		{ID: "server-errors", Section: "4, 7", Text: "A bad request is the client's error: it does not get a 5xx.", Why: "A 5xx tells the client that the server failed and to try again."},
		{ID: "sunset", Section: "4.3, 9", Text: "GET /pets/{petId} is scheduled for removal on 5 December 2030.", Why: "Clients plan by the date."},
	}
	recommended := []Clause{
		{ID: "list-soon", Section: "4.1", Arguable: true, Text: "A list has a pet as soon as the response to its creation is sent.", Why: "A client that adds a pet and then lists expects to see it."},
		{ID: "message-status", Section: "1, 2.7, 3.2, 4.4", Arguable: true, Text: "A submitted message is queued, and the status of its record is queued.", Why: "A client must not mistake a message that waits for one that was processed."},
		{ID: "name-any", Section: "2.1", Arguable: true, Text: "A short name that can be read is valid, in any script.", Why: "The contract has no rules for names."},
		{ID: "category-any", Section: "2.1", Arguable: true, Text: "Every int64 is a valid categoryId, if arbitrary ones are.", Why: "The contract has no rules for categories."},
		{ID: "text-any", Section: "4.4", Arguable: true, Text: "A short text that can be read is valid, in any script.", Why: "The contract has no rules for texts."},
		{ID: "name-again", Section: "2.1, 2.2", Arguable: true, Text: "Only the id is unique: two pets may have the same name.", Why: "Two dogs are called Rex."},
		{ID: "status-default", Section: "2.1", Arguable: true, Text: "Either all pets that are added without a status get the same status, or none gets one.", Why: "A client must be able to rely on the default."},
		{ID: "integers", Section: "2.1, 2.2", Arguable: true, Text: "An integer is written without a fraction and an exponent: 7, not 7.0.", Why: "Typed clients read 7.0 as a floating-point number, or not at all."},
		{ID: "error-any", Section: "7", Arguable: true, Text: "Every error has an Error body, even if the contract does not have the request or a proxy may refuse it.", Why: sameErrors},
		{ID: "key-before-body", Section: "4.2, 4.4, 5", Arguable: true, Text: "A request without the credential gets 401, not 400, even if its body is wrong too.", Why: "Without a valid key a client must not learn what a request looks like."},
		{ID: "limit-full", Section: "4.1, 8", Arguable: true, Text: "A list has as many pets as its limit allows, if the store has them.", Why: "A client that gets fewer pets takes the list for complete."},
		{ID: "message-again", Section: "2.7", Arguable: true, Text: "A message that has the text of another is another message.", Why: "Who submits a text twice may mean two messages."},
		{ID: "status-null", Section: "2.1", Arguable: true, Text: "The status of a new pet is not null.", Why: mistake},
		{ID: "rfc-duplicates", Section: "RFC 8259, 4", Text: "The names within an object should be unique.", Why: "Two readers of the same body may read two pets."},
		{ID: "rfc-utf8", Section: "RFC 8259, 8.1", Text: "JSON that systems exchange is UTF-8.", Why: keptExactly},
		{ID: "rfc-coding", Section: "RFC 9110, 12.5.3", Text: "A response has no content coding that the request does not accept.", Why: "Clients without a decompressor cannot read it."},
		{ID: "rfc-location", Section: "RFC 9110, 15.3.2", Text: "A 201 identifies the new resource in Location.", Why: "Generic clients find by it what they created."},
		{ID: "rfc-challenge", Section: "RFC 9110, 15.5.2", Text: "A 401 has a WWW-Authenticate with a challenge for the scheme.", Why: "Generic clients learn from it how to authenticate."},
		{ID: "rfc-scheme", Section: "RFC 9110, 11.1", Text: "The name of an authentication scheme is case-insensitive.", Why: "Some clients write bearer."},
		{ID: "rfc-deprecation", Section: "RFC 9745, 2 and 4", Text: "A deprecated resource says so in Deprecation, with a date that is not after its removal.", Why: warnsUsers},
		{ID: "rfc-sunset", Section: "RFC 8594, 3", Text: "A resource that will be removed says when in Sunset.", Why: warnsUsers},
	}
	return slices.Concat(stated, recommended)
}
