package conformance

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"

	"example.com/animalstore/conformance/internal/probe"
)

// The Error body of every error (contract, sections 2.5 and 7).

func errorChecks() []Check {
	check := func(id, section, title string, applies func(*exchange) bool, wrong func(*exchange) string) Check {
		return Check{ID: id, Section: section, Title: title, Why: sameErrors, applies: applies, wrong: wrong}
	}
	isObject := func(x *exchange) bool { _, err := x.Object(); return x.isError() && err == nil }
	isOtherJSON := func(x *exchange) bool {
		return x.Status >= 400 && !x.isError() && len(x.Body) > 0 && x.mediaType() == "application/json"
	}
	isJSON := func(x *exchange) string {
		if _, err := x.JSON(); err != nil {
			return err.Error()
		}
		return ""
	}
	text := func(member string) func(*exchange) string {
		return func(x *exchange) string { return x.wrongErrorText(member) }
	}
	checks := []Check{
		check("errors.object", "2.5, 7", "the body of an error is a JSON object", (*exchange).isError, (*exchange).wrongErrorBody),
		check("errors.media-type", "7", "an error is application/json", (*exchange).isError, (*exchange).wrongType),
		check("errors.code", "2.5, 7", "an error has a code", isObject, text("code")),
		check("errors.message", "2.5, 7", "an error has a message", isObject, text("message")),
		check("errors.status", "2.5, 7", "an error repeats its HTTP status", isObject, (*exchange).wrongErrorStatus),
		check("errors.json", "2.5, 7", "every other error in application/json is JSON", isOtherJSON, isJSON),
		{
			ID: "errors.any", Section: "7",
			Title:      "every error has an Error body, also a 429, 503 or 507, and even if a proxy may refuse the request",
			Level:      Recommended,
			Why:        sameErrors,
			ofUnserved: true,
			applies:    func(x *exchange) bool { return x.isOtherError() || x.Unavailable() }, wrong: (*exchange).wrongError,
		},
	}
	for i := range checks {
		checks[i].kind = func(x *exchange) string { return fmt.Sprintf("a %d for %s", x.Status, x.op) }
	}
	return checks
}

var (
	plainPath = regexp.MustCompile(`^/(messages|pets(/-?\d{1,40})?)(\?[A-Za-z0-9&=._,:+-]{0,1000})?$`)
	unescaped = regexp.MustCompile(`^[A-Za-z0-9/&?=._,:+-]*$`)
)

// isError reports whether the body of x must be an Error. It need not be one if a
// proxy in front of the target may have responded, because the URL is unusual or the
// body too large. A router may have responded if the id in the path is not an int64. Of a query
// that is wrong the contract says nothing.
func (x *exchange) isError() bool {
	if x.Status == http.StatusMethodNotAllowed || x.Status == http.StatusRequestEntityTooLarge {
		return false
	}
	described := x.query != nil || x.id != nil || x.op == probe.CreatePet || x.op == probe.SubmitMessage ||
		x.Status == http.StatusUnauthorized
	return x.isAnyError() && described && plainPath.MatchString(x.Request.Path)
}

// isOtherError reports whether x is an error that must have an Error body only if the
// contract is read strictly.
func (x *exchange) isOtherError() bool {
	return x.isAnyError() && !x.isError() && unescaped.MatchString(x.Request.Path)
}

// isAnyError reports whether x is an error other than those that HTTP servers send by
// themselves.
func (x *exchange) isAnyError() bool {
	switch x.Status {
	case http.StatusRequestTimeout, http.StatusLengthRequired, http.StatusRequestURITooLong,
		http.StatusExpectationFailed, http.StatusRequestHeaderFieldsTooLarge:
		return false
	}
	return x.Refused() && !x.gone() && x.intent.MayRefuse != probe.WithAnything &&
		(x.hasKey() || x.Status == http.StatusUnauthorized)
}

func (x *exchange) wrongErrorBody() string {
	if _, err := x.Object(); err != nil {
		return fmt.Sprintf("the body of a %d is not an Error: %v", x.Status, err)
	}
	return ""
}

func (x *exchange) wrongErrorText(name string) string {
	if _, err := x.member(name); err != nil {
		return fmt.Sprintf("the body of a %d is not an Error: %v", x.Status, err)
	}
	return ""
}

func (x *exchange) wrongErrorStatus() string {
	o, err := x.Object()
	var status int64
	if err == nil {
		status, err = o.Int64("status")
	}
	switch {
	case err != nil:
		return fmt.Sprintf("the body of a %d is not an Error: %v", x.Status, err)
	case status != int64(x.Status):
		return fmt.Sprintf("the status in the body is %d, and the response is a %d", status, x.Status)
	}
	return ""
}

// wrongError says what is wrong if the body of x is not an Error.
func (x *exchange) wrongError() string {
	return cmp.Or(x.wrongErrorBody(), x.wrongType(), x.wrongErrorText("code"), x.wrongErrorText("message"),
		x.wrongErrorStatus())
}
