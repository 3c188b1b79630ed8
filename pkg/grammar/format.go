package grammar

import "strings"

// This file has the formats of JSON Schema that are regular, as patterns over
// the decoded string. Sources: RFC 3339 (date, time, date-time, duration), RFC
// 1123 (hostname), RFC 5321 (email), RFC 2673 and 4291 (ipv4, ipv6), RFC 3986
// (uri, uri-reference), RFC 4122 (uuid), RFC 6901 and the Relative JSON Pointer
// draft.

const (
	patternMonthDay = `(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`
	patternLeapYear = `(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)`
	patternDate     = `(?:\d{4}-` + patternMonthDay + `|` + patternLeapYear + `-02-29)`
	// A leap second is the last one of a day in UTC; with another offset it is
	// left out.
	patternTime    = `(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)|23:59:60(?:\.\d+)?[Zz])`
	patternDurTime = `T(?:\d+H(?:\d+M(?:\d+S)?)?|\d+M(?:\d+S)?|\d+S)`
	patternDurDate = `(?:\d+Y(?:\d+M(?:\d+D)?)?|\d+M(?:\d+D)?|\d+D)`
	patternLabel   = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
	patternHost    = patternLabel + `(?:\.` + patternLabel + `)*`
	patternAtom    = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	patternOctet   = `(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	patternIPv4    = patternOctet + `(?:\.` + patternOctet + `){3}`
	patternH16     = `[0-9A-Fa-f]{1,4}`
	patternLS32    = `(?:` + patternH16 + `:` + patternH16 + `|` + patternIPv4 + `)`
	patternIPv6    = `(?:` +
		`(?:` + patternH16 + `:){6}` + patternLS32 + `|` +
		`::(?:` + patternH16 + `:){5}` + patternLS32 + `|` +
		`(?:` + patternH16 + `)?::(?:` + patternH16 + `:){4}` + patternLS32 + `|` +
		`(?:(?:` + patternH16 + `:){0,1}` + patternH16 + `)?::(?:` + patternH16 + `:){3}` + patternLS32 + `|` +
		`(?:(?:` + patternH16 + `:){0,2}` + patternH16 + `)?::(?:` + patternH16 + `:){2}` + patternLS32 + `|` +
		`(?:(?:` + patternH16 + `:){0,3}` + patternH16 + `)?::` + patternH16 + `:` + patternLS32 + `|` +
		`(?:(?:` + patternH16 + `:){0,4}` + patternH16 + `)?::` + patternLS32 + `|` +
		`(?:(?:` + patternH16 + `:){0,5}` + patternH16 + `)?::` + patternH16 + `|` +
		`(?:(?:` + patternH16 + `:){0,6}` + patternH16 + `)?::)`
	patternPercent = `%[0-9A-Fa-f]{2}`
	patternPChar   = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|` + patternPercent + `)`
	// Registered names without percent-encoding, which net/url takes for an
	// error in most cases.
	patternAuthority = `(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|` + patternPercent + `)*@)?(?:[A-Za-z0-9._~!$&'()*+,;=-]*|\[` + patternIPv6 + `\])(?::\d*)?`
	patternAbsolute  = `/(?:` + patternPChar + `+(?:/` + patternPChar + `*)*)?`
	patternRest      = `(?:\?(?:` + patternPChar + `|[/?])*)?(?:#(?:` + patternPChar + `|[/?])*)?`
	patternNet       = `//` + patternAuthority + `(?:/` + patternPChar + `*)*`
	patternURI       = `[A-Za-z][A-Za-z0-9+.-]*:(?:` + patternNet + `|` + patternAbsolute + `|` + patternPChar + `+(?:/` + patternPChar + `*)*)?` + patternRest
	patternNoScheme  = `(?:[A-Za-z0-9._~!$&'()*+,;=@-]|` + patternPercent + `)+(?:/` + patternPChar + `*)*`
	patternRelative  = `(?:` + patternNet + `|` + patternAbsolute + `|` + patternNoScheme + `)?` + patternRest
	patternPointer   = `(?:/(?:[^/~]|~[01])*)*`
)

// A format is a set of strings: those that match every pattern, of at most max
// code points (0: of any length).
type format struct {
	patterns []string
	max      int
}

var formats = map[string]format{
	"date":                  {patterns: []string{patternDate}},
	"time":                  {patterns: []string{patternTime}},
	"date-time":             {patterns: []string{patternDate + `[Tt]` + patternTime}},
	"duration":              {patterns: []string{`P(?:\d+W|` + patternDurDate + `(?:` + patternDurTime + `)?|` + patternDurTime + `)`}},
	"hostname":              {patterns: []string{patternHost}, max: 253},
	"email":                 {patterns: []string{patternAtom + `(?:\.` + patternAtom + `)*@` + patternHost, `[^@]{1,64}@[^@]*`}, max: 254},
	"ipv4":                  {patterns: []string{patternIPv4}},
	"ipv6":                  {patterns: []string{patternIPv6}},
	"uuid":                  {patterns: []string{`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}`}},
	"uri":                   {patterns: []string{patternURI}},
	"uri-reference":         {patterns: []string{patternURI + `|` + patternRelative}},
	"json-pointer":          {patterns: []string{patternPointer}},
	"relative-json-pointer": {patterns: []string{`(?:0|[1-9]\d*)(?:#|` + patternPointer + `)`}},
}

// formatNames lists the formats, for messages.
const formatNames = "date, time, date-time, duration, hostname, email, ipv4, ipv6, uuid, uri, uri-reference, json-pointer, relative-json-pointer"

// anchored returns a pattern that matches whole strings only.
func anchored(pattern string) string {
	return "^(?:" + strings.TrimSpace(pattern) + ")$"
}
