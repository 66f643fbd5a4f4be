package report

import (
	"embed"
	"html/template"
	"io"

	"example.com/animalstore/conformance"
	"example.com/animalstore/conformance/internal/probe"
)

//go:embed report.html report.css report.js
var files embed.FS

// writeHTML writes r as one page that loads nothing.
func writeHTML(w io.Writer, r *conformance.Report) error {
	file := func(name string) string {
		b, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(b)
	}
	t, err := template.New("report").Funcs(template.FuncMap{
		"plural":  probe.Plural,
		"idRange": idRange,
		"retries": retries,
		"style":   func() template.CSS { return template.CSS(file("report.css")) },
		"script":  func() template.JS { return template.JS(file("report.js")) },
		"mood": func() string { // the class of the header, which sets its color
			return map[conformance.Verdict]string{
				conformance.Pass: "good", conformance.Errored: "unsure", conformance.Inconclusive: "unsure", conformance.Fail: "bad",
			}[colorOf(r)]
		},
		"verdicts": func() []verdict { return verdicts },
		"look":     lookOf,
		"having":   func(v conformance.Verdict) []conformance.Result { return with(r, v) },
		"parts":    func() []part { return parts },
		"clauses":  clausesOf,
		"clause": func(c conformance.Check) conformance.Clause {
			cl, _ := conformance.FindClause(c.Clause)
			return cl
		},
		"results": func(cl conformance.Clause) []conformance.Result {
			return worstFirst(r, func(result conformance.Result) bool { return result.Clause == cl.ID })
		},
		"problems": func() []conformance.Result { // what needs attention
			return worstFirst(r, func(result conformance.Result) bool {
				return result.Verdict != conformance.Pass && result.Verdict != conformance.Skip || result.Stale
			})
		},
	}).Parse(file("report.html"))
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

// part is a part of the clause table.
type part struct {
	Title      string
	Level      conformance.Level
	Untestable bool
}

var parts = []part{
	{"The contract", conformance.Required, false},
	{"HTTP and the RFCs", conformance.Recommended, false},
	{"Stated by the contract and not testable from outside", "", true},
}

func clausesOf(p part) []conformance.Clause {
	var list []conformance.Clause
	for _, cl := range conformance.Clauses() {
		if untestable := cl.Untestable != ""; untestable == p.Untestable && (untestable || cl.Level() == p.Level) {
			list = append(list, cl)
		}
	}
	return list
}

// worstFirst returns some of the results, those with the worst verdict first.
func worstFirst(r *conformance.Report, some func(conformance.Result) bool) []conformance.Result {
	var list []conformance.Result
	for _, v := range verdicts {
		for _, result := range with(r, v.Verdict) {
			if some(result) {
				list = append(list, result)
			}
		}
	}
	return list
}
