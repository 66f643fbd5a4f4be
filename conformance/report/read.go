package report

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json"

	"example.com/animalstore/conformance"
)

// Read reads a report that [Write] has written as [JSON]. It returns an error if
// the report has another format than [conformance.ReportFormat], or if it is not
// valid: it has no results, or one with an unknown verdict. It ignores unknown members.
func Read(r io.Reader) (*conformance.Report, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	var head struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("not a report in JSON: %w", err)
	}
	if head.Format != conformance.ReportFormat {
		return nil, fmt.Errorf("the format is %q, want %q", head.Format, conformance.ReportFormat)
	}
	var all conformance.Report
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	switch outcomes := []conformance.Outcome{conformance.Conformant, conformance.NotConformant, conformance.Partial, conformance.Incomplete}; {
	case all.Level != conformance.Required && all.Level != conformance.Recommended:
		return nil, fmt.Errorf("the level %q is unknown", all.Level)
	case !slices.Contains(outcomes, all.Outcome):
		return nil, fmt.Errorf("the outcome %q is unknown", all.Outcome)
	case len(all.Results) == 0:
		return nil, errors.New("there are no results")
	}
	seen := make(map[string]bool)
	for i, result := range all.Results {
		switch known := slices.ContainsFunc(verdicts, func(v verdict) bool { return v.Verdict == result.Verdict }); {
		case result.ID == "":
			return nil, fmt.Errorf("result %d has no id", i)
		case seen[result.ID]:
			return nil, fmt.Errorf("two results have the id %q", result.ID)
		case !known:
			return nil, fmt.Errorf("%s: the verdict %q is unknown", result.ID, result.Verdict)
		case result.Proof < -1 || result.Proof >= len(result.Exchanges):
			return nil, fmt.Errorf("%s: the proof is exchange %d of %d", result.ID, result.Proof, len(result.Exchanges))
		}
		seen[result.ID] = true
	}
	return &all, nil
}
