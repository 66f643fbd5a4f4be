package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements and attributes that all readers of JUnit reports know: a case for each
// check.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suite   struct {
		Name      string      `xml:"name,attr"`
		Tests     int         `xml:"tests,attr"`
		Failures  int         `xml:"failures,attr"`
		Errors    int         `xml:"errors,attr"`
		Skipped   int         `xml:"skipped,attr"`
		Time      string      `xml:"time,attr"`
		Timestamp string      `xml:"timestamp,attr"`
		Cases     []junitCase `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Time    string        `xml:"time,attr"` // of a check it means nothing: readers want one
	Skipped *junitProblem `xml:"skipped"`
	Error   *junitProblem `xml:"error"`
	Failure *junitProblem `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes r as JUnit XML. The name of a case begins with the ID of its check. A warning is
// a case that passes with output.
func (r *Report) WriteJUnit(w io.Writer) error {
	var suites junitSuites
	s := &suites.Suite
	s.Name, s.Time, s.Timestamp = "petstore conformance", fmt.Sprintf("%.3f", r.Seconds), r.Began.Format("2006-01-02T15:04:05")
	s.Failures, s.Skipped = r.Counts[Fail], r.Counts[Skip]
	for _, result := range r.Results {
		dot := strings.LastIndexByte(result.ID, '.')
		c := junitCase{Class: "conformance." + result.ID[:dot], Name: result.ID + ": " + result.Title, Time: "0.000"}
		switch result.Verdict {
		case Fail: // some readers show the attribute and others the text
			c.Failure = &junitProblem{result.Message, string(result.Level), result.Details()}
		case Skip:
			c.Skipped = &junitProblem{Message: result.Message}
		case Warn:
			c.Out = "warning: " + result.Details()
		}
		s.Cases = append(s.Cases, c)
	}
	if r.Conclusion == NotJudged {
		s.Errors = 1
		s.Cases = append(s.Cases, junitCase{Class: "conformance", Name: "the target can be judged", Time: "0.000",
			Error: &junitProblem{r.Reason, string(r.Conclusion), r.Reason}})
	}
	s.Tests = len(s.Cases)
	b, err := xml.MarshalIndent(suites, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	}
	return err
}
