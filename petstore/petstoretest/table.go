package petstoretest

// allDifficulties are in the order in which they act on an exchange.
var allDifficulties = []difficulty{
	{Difficulty: Difficulty{"delay", "A response comes a few milliseconds later."},
		often: 4, before: delay},
	{Difficulty: Difficulty{"too-many-requests", "A request gets 429 with Retry-After."},
		often: 40, before: refuse(429, "too_many_requests"), interrupts: true},
	{Difficulty: Difficulty{"unavailable", "A request gets 503 with Retry-After."},
		often: 40, before: refuse(503, "unavailable"), interrupts: true},
	{Difficulty: Difficulty{"lost-request", "The connection is closed before anything is done, and there is no response."},
		often: 40, before: loseRequest, interrupts: true},

	{Difficulty: Difficulty{"ids-huge", "IDs are beyond 2^53, so that a floating-point number does not hold them exactly."},
		group: "ids", often: 1, show: ids(huge), after: showsPets(1)},
	{Difficulty: Difficulty{"ids-negative", "IDs are negative."},
		group: "ids", often: 1, show: ids(negative), after: showsPets(1)},
	{Difficulty: Difficulty{"ids-sparse", "IDs are far apart and not ascending."},
		group: "ids", often: 1, show: ids(sparse), after: showsPets(1)},

	{Difficulty: Difficulty{"list-descending", "The newest pet is first in a list."},
		group: "order", often: 1, show: order(newestFirst), after: showsPets(2)},
	{Difficulty: Difficulty{"list-by-name", "A list is in the order of the names."},
		group: "order", often: 1, show: order(byName), after: showsPets(2)},
	{Difficulty: Difficulty{"list-random", "A list is in an order that means nothing."},
		group: "order", often: 1, show: order(meaningless), after: showsPets(2)},

	{Difficulty: Difficulty{"short-pages", "A page after the first has fewer pets than the limit, though more pages follow."},
		group: "pages", often: 1, show: shortPages, after: isShortPage},
	{Difficulty: Difficulty{"no-link", "A list does not link to its next page."},
		group: "pages", often: 1, after: noLink},
	{Difficulty: Difficulty{"link-elsewhere", "Link and Location are at the address of another server, which must not receive the key."},
		group: "pages", often: 1, after: linkElsewhere},

	{Difficulty: Difficulty{"no-deprecation", "A pet comes without Deprecation and Sunset."},
		often: 2, after: noDeprecation},
	{Difficulty: Difficulty{"unknown-codes", "An Error has a code that the client does not know."},
		often: 2, after: unknownCode},
	{Difficulty: Difficulty{"message-status", "A message gets 200 or 201 instead of 202."},
		often: 2, after: messageStatus},

	{Difficulty: Difficulty{"extra-members", "Objects have further members."},
		often: 2, after: extraMembers},
	{Difficulty: Difficulty{"member-order", "Objects have their members in another order."},
		often: 2, after: memberOrder},
	{Difficulty: Difficulty{"escapes", "Strings in JSON are written in escapes, the names of members included."},
		often: 3, after: escapes},
	{Difficulty: Difficulty{"white-space", "There is white space before, in and after the JSON."},
		often: 3, after: whiteSpace},

	{Difficulty: Difficulty{"chunked", "A response is chunked, and comes in pieces."},
		often: 3, after: chunked},
	{Difficulty: Difficulty{"connection-close", "The connection is closed after a response."},
		often: 5, after: connectionClose},
	{Difficulty: Difficulty{"lost-response", "The operation is carried out, and the connection is closed before the end of the response."},
		often: 40, after: loseResponse, interrupts: true},
}
