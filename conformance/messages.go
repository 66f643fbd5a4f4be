package conformance

import "strings"

// messageBody returns the body that submits text (contract, section 4.4).
func messageBody(text string) string { return string(append(quoteJSON(`{"message":`, text), '}')) }

// messageChecks are about POST /messages that succeeds (contract, sections
// 2.7 and 4.4).
func messageChecks() []Check {
	checks := []Check{
		message("status", "submit", "a message is accepted",
			"It is what the operation is for.",
			"Another status than 2xx for a body with a message, sent with a valid key and its Content-Type. Which 2xx is not stated.", messageAccepted),
		message("id", "message-id", "the record has an id that is a string",
			"A client refers to its message by it.",
			"The id is missing or no string.", messageMember("id")),
		message("id.unique", "message-id", "every message has an id of its own",
			"An id that is given twice identifies nothing.",
			"Two submissions, of the same text or at the same time, get the same id.", messageIDs),
		message("echo", "message-text", "the record echoes the text",
			"A client sees what was understood.",
			"The member message is missing, no string, or another text.", messageEcho),
		message("queued", "message-status", "the status of the record is queued",
			"A client must not take a message that waits for one that was processed.",
			"The status is missing, no string, or another one.", messageQueued),
		message("time", "message-time", "createdAt is an ISO 8601 timestamp in UTC",
			"Clients order and age messages by it.",
			"createdAt is missing, no string, no timestamp of ISO 8601, or one that does not say UTC (Z or +00:00).", messageTime),
		message("time.now", "message-time", "createdAt is when the message was created",
			"Clients order and age messages by it.",
			"createdAt is more than ten minutes from the answer's Date and from the suite's clock, or, without a Date, more than 25 hours from the latter.", messageNow),
		{
			ID: "messages.open.answer", Title: "the status code and header of a submission",
			Clause: "open-message", Level: Observed, Feature: FeatureMessages, Writes: true,
			Why:     "The contract leaves it open; a client has to know its server.",
			Failure: "Nothing: it is recorded, not judged.",
			run:     messageOpen,
		},
	}
	for _, k := range nameKinds() {
		switch k.id {
		case "quotes", "markup", "combining", "astral", "ends", "nul", "long":
			checks = append(checks, message("text."+k.id, "message-text", "a text "+k.what+" is echoed to the byte",
				"A client sees what was understood.",
				"The record holds another text. A text that is refused with 4xx is inconclusive where its kind may be.",
				func(p *probe) error { return p.echoed(k.text(p.name()), k.refusable) }))
		}
	}
	return checks
}

// message returns a required check of POST /messages.
func message(id, clause, title, why, failure string, run func(*probe) error) Check {
	return Check{
		ID: "messages." + id, Title: title, Clause: clause,
		Level: Required, Feature: FeatureMessages, Writes: true,
		Why: why, Failure: failure, run: run,
	}
}

func succeeded(x *exchange) bool { return x.status >= 200 && x.status <= 299 }

// submission is a submitted text and its answer.
type submission struct {
	text string
	x    *exchange
}

// submit submits a text, once for all checks that look at the answer.
func (p *probe) submit() (submission, error) {
	return once(p, "submission", func(p *probe) (submission, error) {
		text := p.name()
		x, err := p.do(postMessage(messageBody(text)))
		return submission{text, x}, err
	})
}

func messageAccepted(p *probe) error {
	s, err := p.submit()
	if err != nil || succeeded(s.x) {
		return err
	}
	return p.unwanted(s.x, "2xx", "a valid message is submitted")
}

// messageRecord returns a submission with the record in its answer.
func (p *probe) messageRecord() (submission, object, error) {
	s, err := p.submit()
	if err != nil {
		return s, nil, asUndecided(err, "no message could be submitted")
	}
	if !succeeded(s.x) {
		return s, nil, undecidedf("submitting a message gets %s", s.x.statusLine())
	}
	o, err := s.x.errorBody()
	return s, o, err
}

func messageMember(name string) func(*probe) error {
	return func(p *probe) error {
		s, o, err := p.messageRecord()
		if err != nil {
			return err
		}
		if _, err := o.str(name); err != nil {
			return violationf(s.x, "the body is no message record: %v", err)
		}
		return nil
	}
}

func messageIDs(p *probe) error {
	const n = 8
	text := p.name()
	ids := make([]string, n)
	xs := make([]*exchange, n)
	err := p.parallel(n, n, func(p *probe, i int) error {
		x, err := p.do(postMessage(messageBody(text)))
		if err != nil {
			return err
		}
		if !succeeded(x) {
			return undecidedf("submitting a message gets %s", x.statusLine())
		}
		o, err := x.errorBody()
		if err != nil {
			return asUndecided(err, "the record cannot be read")
		}
		v, err := o.member("id")
		ids[i], xs[i] = string(v), x
		if err != nil {
			return undecidedf("the record cannot be read: %v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	for i, id := range ids {
		if seen[id] {
			return violationf(xs[i], "two of %d messages have the id %s", n, short(id))
		}
		seen[id] = true
	}
	return nil
}

func messageEcho(p *probe) error {
	s, o, err := p.messageRecord()
	if err != nil {
		return err
	}
	got, err := o.str("message")
	if err != nil {
		return violationf(s.x, "the body is no message record: %v", err)
	}
	if got != s.text {
		return violationf(s.x, "the text is %q, not %q", short(got), s.text)
	}
	return nil
}

// echoed submits a text and says what is wrong if it does not come back.
func (p *probe) echoed(text, refusable string) error {
	x, err := p.do(postMessage(messageBody(text)))
	if err != nil {
		return err
	}
	switch {
	case refusable != "" && x.status >= 400 && x.status <= 499:
		return undecidedf("the target refuses it with %s, and %s", x.statusLine(),
			strings.Replace(refusable, "a name", "a text", 1))
	case !succeeded(x):
		return p.unwanted(x, "2xx", "a valid message is submitted")
	}
	o, err := x.errorBody()
	if err != nil {
		return err
	}
	if got, err := o.str("message"); err != nil || got != text {
		return violationf(x, "the record does not echo the text that was submitted")
	}
	return nil
}

func messageQueued(p *probe) error {
	s, o, err := p.messageRecord()
	if err != nil {
		return err
	}
	got, err := o.str("status")
	if err != nil {
		return violationf(s.x, "the body is no message record: %v", err)
	}
	if got != "queued" {
		return violationf(s.x, "the status is %q, not queued", short(got))
	}
	return nil
}

func messageOpen(p *probe) error {
	s, err := p.submit()
	if err != nil {
		return err
	}
	p.note("a message", "%s", s.x.statusLine())
	p.note("Content-Type", "%s", orAbsent(s.x.header.Get("Content-Type")))
	p.note("Location", "%s", orAbsent(s.x.header.Get("Location")))
	for _, c := range []struct{ what, body string }{
		{"an empty text", `{"message":""}`},
		{"an unknown member", strings.Replace(messageBody(p.name()), "}", `,"priority":1}`, 1)},
	} {
		x, err := p.do(postMessage(c.body))
		if err := p.record(c.what, x, err); err != nil {
			return err
		}
	}
	return nil
}
