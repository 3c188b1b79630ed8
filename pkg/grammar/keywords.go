package grammar

import (
	"slices"
	"strings"
)

// Keywords that say nothing about which values are valid.
var annotationKeywords = []string{
	"$anchor", "$comment", "$defs", "$id", "$schema",
	"contentEncoding", "contentMediaType", "contentSchema",
	"default", "definitions", "deprecated", "description", "examples",
	"readOnly", "title", "writeOnly",
}

// Keywords that combine schemas; the others that are supported are plain.
var applicatorKeywords = []string{"$ref", "allOf", "anyOf", "oneOf"}

var plainKeywords = []string{
	"additionalProperties", "const", "enum", "exclusiveMaximum", "exclusiveMinimum",
	"format", "items", "maxItems", "maxLength", "maxProperties", "maximum",
	"minItems", "minLength", "minProperties", "minimum", "multipleOf", "pattern",
	"patternProperties", "properties", "propertyNames", "required", "type",
}

// checkKeywords refuses a schema with a keyword that is not compiled. It
// reports whether there are plain ones.
func (c *compiler) checkKeywords(v *value) (plain bool, err error) {
	for i, k := range v.keys {
		switch {
		case slices.Contains(annotationKeywords, k), slices.Contains(applicatorKeywords, k):
			if k == "$id" && v.parent != nil && !strings.HasPrefix(v.list[i].text, "#") {
				return false, v.fail(k, ErrUnsupported, "a schema within a schema has a name of its own")
			}
		case slices.Contains(plainKeywords, k):
			plain = true
		case k == "prefixItems" && v.doc.draft == draft2020, k == "additionalItems" && v.doc.draft == draft7:
			plain = true
		case k == "uniqueItems" && v.list[i].kind == 'f':
		case slices.Contains(c.opts.Ignore, k):
		default:
			return false, v.fail(k, ErrUnsupported, "the keyword is unknown, or not supported")
		}
	}
	if v.doc.draft == draft7 && v.get("$ref") != nil {
		for _, k := range v.keys {
			if k != "$ref" && !slices.Contains(annotationKeywords, k) && !slices.Contains(c.opts.Ignore, k) {
				return false, v.fail(k, ErrUnsupported, "draft 7 ignores what stands beside $ref")
			}
		}
	}
	return plain, nil
}

// count returns the value of a keyword that holds a count, or other where it
// is absent. Counts beyond 2^31-1 are taken for that.
func (v *value) count(keyword string, other int) int {
	n := v.get(keyword)
	if n == nil {
		return other
	}
	d := parseDecimal(n.text)
	if i := d.scaled(max(0, -d.exponent)); d.whole() && i.IsInt64() && i.Int64() < 1<<31 {
		return int(i.Int64())
	}
	return 1<<31 - 1
}
