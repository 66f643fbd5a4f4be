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
	XMLName xml.Name   `xml:"testsuites"`
	Suite   junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr"`
	Cases     []junitCase `xml:"testcase"`
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

// WriteJUnit writes r as JUnit XML. The name of a case begins with the ID of its check.
func (r *Report) WriteJUnit(w io.Writer) error {
	suite := junitSuite{
		Name: "petstore conformance", Time: junitTime(r.Seconds), Timestamp: r.Began.Format("2006-01-02T15:04:05"),
		Failures: r.Counts[Fail], Skipped: r.Counts[Skip],
	}
	for _, result := range r.Results {
		suite.Cases = append(suite.Cases, newJUnitCase(result))
	}
	if r.Outcome == NotJudged {
		suite.Errors = 1
		problem := &junitProblem{Message: r.Reason, Type: string(r.Outcome), Text: r.Reason}
		suite.Cases = append(suite.Cases, junitCase{
			Class: "conformance", Name: "the target can be judged", Time: junitTime(0), Error: problem,
		})
	}
	suite.Tests = len(suite.Cases)
	b, err := xml.MarshalIndent(junitSuites{Suite: suite}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }

// newJUnitCase returns a result as JUnit has it. A warning is a case that passes
// with output.
func newJUnitCase(result Result) junitCase {
	dot := strings.LastIndexByte(result.ID, '.')
	c := junitCase{
		Class: "conformance." + result.ID[:max(dot, 0)],
		Name:  result.ID + ": " + result.Title,
		Time:  junitTime(0),
	}
	switch result.Verdict {
	case Fail: // some readers show the attribute and others the text
		c.Failure = &junitProblem{Message: result.Message, Type: string(result.Level), Text: result.Details()}
	case Skip:
		c.Skipped = &junitProblem{Message: result.Message}
	case Warn:
		c.Out = "warning: " + result.Details()
	}
	return c
}
