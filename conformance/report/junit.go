package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"example.com/animalstore/conformance"
)

// The elements and attributes that all readers of JUnit reports know: a case for each
// check.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suite junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitSuite struct {
	junitCounts
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

// JUnit writes r as JUnit XML. The name of a case begins with the ID of its check.
func JUnit(w io.Writer, r *conformance.Report) error {
	suite := junitSuite{Timestamp: r.Began.Format("2006-01-02T15:04:05")}
	suite.Name, suite.Time = "petstore conformance", junitTime(r.Seconds)
	for _, result := range r.Results {
		c := newJUnitCase(result, r.Level)
		suite.Cases = append(suite.Cases, c)
		suite.count(c)
	}
	b, err := xml.MarshalIndent(junitSuites{junitCounts: suite.junitCounts, Suite: suite}, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, b)
	return err
}

func junitTime(seconds float64) string { return fmt.Sprintf("%.3f", seconds) }

func (n *junitCounts) count(c junitCase) {
	n.Tests++
	switch {
	case c.Failure != nil:
		n.Failures++
	case c.Error != nil:
		n.Errors++
	case c.Skipped != nil:
		n.Skipped++
	}
}

// newJUnitCase returns a result as JUnit has it. A warning is a case that passes
// with output. An inconclusive check and a known failure are skipped.
func newJUnitCase(result conformance.Result, level conformance.Level) junitCase {
	dot := strings.LastIndexByte(result.ID, '.')
	c := junitCase{
		Class: "conformance." + result.ID[:max(dot, 0)],
		Name:  result.ID + ": " + result.Title,
		Time:  junitTime(0),
	}
	// Some readers show the attribute and others the text.
	problem := func(kind string) *junitProblem {
		return &junitProblem{Message: result.Message, Type: kind, Text: result.Details()}
	}
	switch {
	case result.CountsAgainst(level):
		c.Failure = problem(string(result.Level))
	case result.Stale:
		c.Failure = &junitProblem{
			Message: "the check passes, and is on the list of known failures: " + result.Known, Type: "stale",
			Text: "Remove " + result.ID + " from the list of known failures.",
		}
	case result.Known != "" && (result.Verdict == conformance.Fail || result.Verdict == conformance.Warn):
		c.Skipped = &junitProblem{Message: "known failure: " + result.Known}
		c.Out = result.Details()
	case result.Verdict == conformance.Errored:
		c.Error = problem("unavailable")
	case result.Verdict == conformance.Skip || result.Verdict == conformance.Inconclusive:
		c.Skipped = &junitProblem{Message: string(result.Verdict) + ": " + result.Message}
	case result.Verdict == conformance.Warn:
		c.Out = "warning: " + result.Details()
	}
	return c
}
