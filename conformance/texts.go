package conformance

import "strings"

// categories are those that a target may get wrong.
var categories = []int64{1<<53 + 1, 1<<63 - 1, -1 << 63, -(1<<53 + 1), 0, 1 << 31, 1, -1}

// Names of pets, and texts of messages, that a target may change by mistake. It may refuse
// them. $M stands for the mark of the run.
var texts = []string{
	// They can be read. With the mark they have at most 20 characters.
	"Old  Yell   a $M", "McDoGgLe ÄÖ $M", "ß İ ı ø ł $M", `"R" 'the' $M`, `\ / \n \u41 $M`,
	"<b>Tom</b> $M", "&amp; <i> %s $M", "{{y}} ${name} $M", "100%25 %41 $M", "cat+dog%20 $M", "=?&#; &lt; $M",
	"<script>a $M", "A OR 1=1 -- $M", "a // b /* $M", "c */ # d -- $M", "$& $1 $$ x $M", "{0} #{n} %d $M", "%@ :name ? $M",
	"“Rex” ‘n’ „ $M", "Tom – — … • $M", "a ™ € «» $M", "Žluťoučký $M", "猫 龍 שלום $M", "مرحبا नम $M",
	"e\u0301 é \u212b A\u030a $M", "ﬁ 한 \u1112\u1161\u11ab $M", "🦊 𝕏 a 𠮷 $M", "a 👩\u200d👩\u200d👧 $M",
	"the\u00a0dog $M", "I ❤\ufe0f dogs $M", "$M " + `C:\new\`,

	// They are empty, or have spaces at an end, no letters, or characters that cannot be seen.
	"", "$M\n", " $M ", "  $M \u00a0 ", "👩\u200d👩\u200d👧🏽", "a\x00b $M", "a\tb $M", "a\nb\r\nc $M",
	"d\x01\x1b\x7f\u0085\u2028 $M", "\u202eabc\u202c \u200f $M", "\u00ad\u200b\u2060. $M", "\ufeff$M",
	"\ufffe\uffff \U0010ffff \ue000 \ufffd $M",

	// They are long.
	"$H $M", // 300 characters
	"$K $M", // 2,000 characters
	"$3 $M", // 6,000 characters of three bytes: one is at the end of each buffer
}

// words are values of other types, and words of programming languages. They have no mark, so an
// earlier run may have sent them.
var words = []string{
	"null", "Null", "true", "false", "undefined", "NaN", "no", "__proto__", "constructor", "toString",
	"7", "0", "4711", "0042", "12345678901234567890", "1e3", "1.10", "2024-02-29", "2024-02-29T12:00:00Z",
	`{"name":"Rex"}`, `"Rex"`, "[object]",
}

// fillText returns a text of the tables, for a run with that mark.
func fillText(text, mark string) string {
	return strings.NewReplacer(
		"$M", mark[len("Conf"):],
		"$H", strings.Repeat("abcdefghi ", 30),
		"$K", strings.Repeat("Ünïcorn 🦄 ", 200),
		"$3", strings.Repeat("猫", 6000),
	).Replace(text)
}
