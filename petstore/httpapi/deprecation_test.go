package httpapi_test

import "testing"

// deprecated returns w with the header fields that every response of GET
// /pets/{petId} has.
func deprecated(w want) want {
	return w.with("Deprecation", "@1795132800").with("Sunset", "Thu, 05 Dec 2030 00:00:00 GMT").with("Link", `<../pets>; rel="successor-version"`)
}

// TestDeprecation: every response of GET /pets/{petId}, of any status, says that
// it is deprecated and what replaces it. No other response does.
func TestDeprecation(t *testing.T) {
	s := newServer(t, nil)
	s.add("rex")
	s.want(deprecated(found), get("/pets/1"))
	s.want(deprecated(refused(404, "")), get("/pets/2"), get("/pets/x"))
	s.want(deprecated(refused(401, "")), request("GET /pets/1"))
	not := func(w want) want { return w.with("Deprecation", "").with("Sunset", "").with("Link", "") }
	s.want(not(refused(405, "")), request("PUT /pets/1", authorized))
	s.want(not(noPath), get("/pets/1/"))
	s.want(not(found), get("/pets"))
	s.want(not(created), post("/pets", rexBody))
	s.want(not(accepted), post("/messages", messageBody))
}
