package conformance

import (
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

func getMissing(p *probe) error {
	x, err := p.missing()
	if err != nil {
		return err
	}
	if gone, err := p.getRemoved(); gone && x.status == http.StatusGone || err != nil {
		return err
	}
	return p.want(x, 404, "no pet has that id")
}

func getEdges(p *probe) error {
	ids := []int64{0, -1, 1<<63 - 1, -1 << 63, 1<<53 + 1, 1 << 31, 1 << 32}
	if known, err := p.aPet(); err == nil && known < 1<<62 {
		ids = append(ids, known+1_000_003) // a likely id that is not given yet
	}
	for _, id := range ids {
		x, err := p.get(petPath(id))
		if err != nil {
			return err
		}
		switch x.status {
		case http.StatusNotFound:
		case http.StatusOK:
			got, err := x.pet()
			if err != nil {
				return asUndecided(err, "the pet cannot be read")
			}
			if got.ID != id {
				return violationf(x, "the pet %d was asked for, and the answer has the id %d", id, got.ID)
			}
		default:
			if gone, err := p.getRemoved(); gone || err != nil {
				return err
			}
			return p.unwanted(x, "200 or 404", fmt.Sprintf("%d is an int64", id))
		}
	}
	return nil
}

func getOverflow(p *probe) error {
	known, err := p.aPet()
	if err != nil {
		known = 1 // the ids will do without a pet behind them
	}
	for _, path := range []string{
		"9223372036854775808",
		"-9223372036854775809",
		plus(known, 1, 64),
		plus(known, 1, 32), // an id of its own, if it fits in an int64
		plus(known, -1, 64),
		"1" + strings.Repeat("0", 40),
	} {
		x, err := p.get("/pets/" + path)
		if err != nil {
			return err
		}
		if x.status >= 500 {
			return p.unwanted(x, "an answer to the client's error", "the id is out of range")
		}
		if x.status != http.StatusOK {
			continue
		}
		if got, err := x.pet(); err == nil && strconv.FormatInt(got.ID, 10) != path {
			return violationf(x, "there is no pet %s, and the answer has the pet %d", path, got.ID)
		} else if err != nil {
			return violationf(x, "there is no pet %s, and the answer is 200", path)
		}
	}
	return nil
}

// plus returns id + sign·2^bits, written out.
func plus(id, sign int64, bits uint) string {
	n := new(big.Int).Lsh(big.NewInt(sign), bits)
	return n.Add(n, big.NewInt(id)).String()
}

func getOpenID(p *probe) error {
	for _, id := range []string{"abc", "1.0", "1e2", "+1", "01", "0x1", " 1", "1 ", "-", "%00", "null", "9223372036854775808", strings.Repeat("9", 200)} {
		x, err := p.do(get("/pets/" + url.PathEscape(id)))
		if err := p.record("petId "+strconv.Quote(short(id)), x, err); err != nil {
			return err
		}
	}
	return nil
}
