package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// history is written by hand: a line for each operation, in one part.
type history struct {
	name  string
	kind  string
	lines string
	legal bool
}

var histories = []history{
	{"a read beside a write may show either", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"return":2,"out":{"status":201}}
{"client":1,"part":"a","op":"patch","in":{"value":"v2"},"call":3,"return":9,"out":{"status":200}}
{"client":2,"part":"a","op":"get","in":{},"call":4,"return":5,"out":{"status":200,"value":"v1"}}
{"client":2,"part":"a","op":"get","in":{},"call":6,"return":7,"out":{"status":200,"value":"v2"}}`, true},
	{"a read never goes back", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"return":2,"out":{"status":201}}
{"client":1,"part":"a","op":"patch","in":{"value":"v2"},"call":3,"return":9,"out":{"status":200}}
{"client":2,"part":"a","op":"get","in":{},"call":4,"return":5,"out":{"status":200,"value":"v2"}}
{"client":2,"part":"a","op":"get","in":{},"call":6,"return":7,"out":{"status":200,"value":"v1"}}`, false},
	{"an open write may happen late", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"ended":2}
{"client":2,"part":"a","op":"get","in":{},"call":3,"return":4,"out":{"status":404}}
{"client":2,"part":"a","op":"get","in":{},"call":5,"return":6,"out":{"status":200,"value":"v1"}}`, true},
	{"an open write happens once", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"ended":2}
{"client":2,"part":"a","op":"delete","in":{},"call":3,"return":4,"out":{"status":204}}
{"client":2,"part":"a","op":"get","in":{},"call":5,"return":6,"out":{"status":200,"value":"v1"}}`, false},
	{"an acknowledged write is there", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"return":2,"out":{"status":201}}
{"client":2,"part":"a","op":"get","in":{},"call":3,"return":4,"out":{"status":404}}`, false},
	{"an answer that the model does not know", "register", `
{"client":1,"part":"a","op":"create","in":{"value":"v1"},"call":1,"return":2,"out":{"status":418}}`, false},

	{"a list shows the members", "set", `
{"client":1,"part":"t","op":"create","in":{"id":"a"},"call":1,"return":2,"out":{"status":201}}
{"client":1,"part":"t","op":"create","in":{"id":"b"},"call":3,"return":4,"out":{"status":201}}
{"client":1,"part":"t","op":"list","in":{},"call":5,"return":6,"out":{"status":200,"ids":["b","a"],"total":2}}
{"client":1,"part":"t","op":"delete","in":{"id":"a"},"call":7,"return":8,"out":{"status":204}}
{"client":1,"part":"t","op":"list","in":{},"call":9,"return":10,"out":{"status":200,"ids":["b"],"total":1}}`, true},
	{"a list lacks a member", "set", `
{"client":1,"part":"t","op":"create","in":{"id":"a"},"call":1,"return":2,"out":{"status":201}}
{"client":1,"part":"t","op":"list","in":{},"call":5,"return":6,"out":{"status":200,"ids":[],"total":0}}`, false},
	{"an open create is seen once only", "set", `
{"client":1,"part":"t","op":"create","in":{"id":"a"},"call":1,"ended":2}
{"client":1,"part":"t","op":"list","in":{},"call":3,"return":4,"out":{"status":200,"ids":["a"],"total":1}}
{"client":1,"part":"t","op":"list","in":{},"call":5,"return":6,"out":{"status":200,"total":0}}`, false},
	{"an open create is seen by a delete alone", "set", `
{"client":1,"part":"t","op":"create","in":{"id":"a"},"call":1,"ended":2}
{"client":1,"part":"t","op":"delete","in":{"id":"a"},"call":3,"return":4,"out":{"status":204}}
{"client":1,"part":"t","op":"create","in":{"id":"b"},"call":5,"ended":6}
{"client":1,"part":"t","op":"delete","in":{"id":"b"},"call":7,"return":8,"out":{"status":404}}`, true},
	{"a list shows two states at once", "set", `
{"client":1,"part":"t","op":"create","in":{"id":"a"},"call":1,"return":2,"out":{"status":201}}
{"client":1,"part":"t","op":"delete","in":{"id":"a"},"call":3,"return":4,"out":{"status":204}}
{"client":1,"part":"t","op":"create","in":{"id":"b"},"call":5,"return":6,"out":{"status":201}}
{"client":2,"part":"t","op":"list","in":{},"call":1,"return":9,"out":{"status":200,"ids":["a","b"],"total":2}}`, false},

	{"one create makes, one hits", "deduplication", `
{"client":1,"part":"c","op":"create","in":{"id":"a"},"call":1,"return":9,"out":{"status":201,"id":"b","value":"deduplicated"}}
{"client":2,"part":"c","op":"create","in":{"id":"b"},"call":2,"return":8,"out":{"status":201,"id":"b","value":"new"}}
{"client":2,"part":"c","op":"delete","in":{"id":"b"},"call":10,"return":11,"out":{"status":204}}
{"client":2,"part":"c","op":"create","in":{"id":"d"},"call":12,"return":13,"out":{"status":201,"id":"d","value":"new"}}`, true},
	{"two live tokens of one content", "deduplication", `
{"client":1,"part":"c","op":"create","in":{"id":"a"},"call":1,"return":9,"out":{"status":201,"id":"a","value":"new"}}
{"client":2,"part":"c","op":"create","in":{"id":"b"},"call":2,"return":8,"out":{"status":201,"id":"b","value":"new"}}`, false},

	{"the retry tells what the open request made", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"ended":2}
{"client":1,"part":"k","op":"list","in":{},"call":3,"return":4,"out":{"status":200,"ids":["a"],"total":1}}
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":5,"return":6,"out":{"status":201,"id":"a"}}
{"client":1,"part":"k","op":"create","in":{"value":"y"},"call":7,"return":8,"out":{"status":409,"reason":"another body"}}
{"client":1,"part":"k","op":"delete","in":{"id":"a"},"call":9,"return":10,"out":{"status":204}}
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":11,"return":12,"out":{"status":404}}
{"client":1,"part":"k","op":"list","in":{},"call":13,"return":14,"out":{"status":200,"total":0}}`, true},
	{"the retry makes a second token", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"ended":2}
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":5,"return":6,"out":{"status":201,"id":"b"}}
{"client":1,"part":"k","op":"list","in":{},"call":7,"return":8,"out":{"status":200,"ids":["a","b"],"total":2}}`, false},
	{"the retry of what was gone makes another token", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"return":2,"out":{"status":201,"id":"a"}}
{"client":1,"part":"k","op":"delete","in":{"id":"a"},"call":3,"return":4,"out":{"status":204}}
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":5,"return":6,"out":{"status":201,"id":"b"}}`, false},
	{"another body is answered", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"return":2,"out":{"status":201,"id":"a"}}
{"client":1,"part":"k","op":"create","in":{"value":"y"},"call":5,"return":6,"out":{"status":201,"id":"a"}}`, false},
	{"under way beside another request", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"return":4,"out":{"status":201,"id":"a"}}
{"client":2,"part":"k","op":"create","in":{"value":"x"},"call":2,"return":3,"out":{"status":409,"reason":"under way"}}`, true},
	{"under way after the process of the other has died", "idempotency", `
{"client":1,"part":"k","op":"create","in":{"value":"x"},"call":1,"ended":2}
{"client":2,"part":"k","op":"create","in":{"value":"x"},"call":3,"return":4,"out":{"status":409,"reason":"under way"}}`, false},

	{"a session from its creation to its end", "session", `
{"client":1,"part":"s","op":"use","in":{},"call":1,"return":2,"out":{"status":403}}
{"client":1,"part":"s","op":"authorize","in":{},"call":3,"return":4,"out":{"status":200}}
{"client":2,"part":"s","op":"authorize","in":{},"call":3,"return":5,"out":{"status":409}}
{"client":1,"part":"s","op":"use","in":{},"call":6,"return":7,"out":{"status":200}}
{"client":2,"part":"s","op":"end","in":{"value":"regenerate-creator"},"call":8,"return":12,"out":{"status":200}}
{"client":1,"part":"s","op":"use","in":{},"call":9,"return":10,"out":{"status":200}}
{"client":1,"part":"s","op":"use","in":{},"call":13,"return":14,"out":{"status":401}}`, true},
	{"a use after the end", "session", `
{"client":1,"part":"s","op":"authorize","in":{},"call":3,"return":4,"out":{"status":200}}
{"client":2,"part":"s","op":"end","in":{"value":"delete-authorizer"},"call":5,"return":6,"out":{"status":204}}
{"client":1,"part":"s","op":"use","in":{},"call":7,"return":8,"out":{"status":200}}`, false},
	{"a refusal before the end", "session", `
{"client":1,"part":"s","op":"authorize","in":{},"call":3,"return":4,"out":{"status":200}}
{"client":1,"part":"s","op":"use","in":{},"call":5,"return":6,"out":{"status":401}}
{"client":2,"part":"s","op":"end","in":{"value":"delete-creator"},"call":7,"return":8,"out":{"status":204}}`, false},
	{"a nonce that serves twice", "session", `
{"client":1,"part":"s","op":"authorize","in":{},"call":3,"return":4,"out":{"status":200}}
{"client":2,"part":"s","op":"authorize","in":{},"call":3,"return":4,"out":{"status":200}}`, false},
	{"a use after its instant", "session", `
{"client":1,"part":"s","op":"authorize","in":{},"call":1,"return":2,"out":{"status":200}}
{"client":-1,"part":"s","op":"end","in":{"value":"expire"},"call":3,"return":5,"out":{"status":200}}
{"client":1,"part":"s","op":"use","in":{},"call":6,"return":7,"out":{"status":200}}`, false},
	{"an authorization that began before its instant and landed after it", "session", `
{"client":1,"part":"s","op":"authorize","in":{"value":"early"},"call":1,"return":9,"out":{"status":200}}
{"client":-1,"part":"s","op":"end","in":{"value":"expire"},"call":2,"return":4,"out":{"status":200}}
{"client":2,"part":"s","op":"use","in":{},"call":5,"return":6,"out":{"status":403}}
{"client":2,"part":"s","op":"use","in":{},"call":7,"return":8,"out":{"status":401}}`, true},
	{"a use of a session that was authorized too late", "session", `
{"client":1,"part":"s","op":"authorize","in":{"value":"early"},"call":1,"return":7,"out":{"status":200}}
{"client":-1,"part":"s","op":"end","in":{"value":"expire"},"call":2,"return":4,"out":{"status":200}}
{"client":2,"part":"s","op":"use","in":{},"call":5,"return":6,"out":{"status":403}}
{"client":2,"part":"s","op":"use","in":{},"call":8,"return":9,"out":{"status":200}}`, false},
	{"an authorization that began after its instant", "session", `
{"client":-1,"part":"s","op":"end","in":{"value":"expire"},"call":2,"return":4,"out":{"status":200}}
{"client":1,"part":"s","op":"authorize","in":{},"call":5,"return":7,"out":{"status":200}}`, false},

	{"rights as they were at some moment", "rights", `
{"client":1,"part":"a","op":"put","in":{"value":"create"},"call":1,"return":5,"out":{"status":200}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"read"},"call":2,"return":3,"out":{"status":200,"value":"clear"}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"read"},"call":4,"return":6,"out":{"status":403}}
{"client":1,"part":"a","op":"regenerate","in":{},"call":7,"return":9,"out":{"status":200,"key":"k1"}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"create"},"call":8,"return":9,"out":{"status":401}}
{"client":2,"part":"a","op":"use","in":{"key":"k1","value":"create"},"call":10,"return":11,"out":{"status":201}}`, true},
	{"a live key is refused", "rights", `
{"client":1,"part":"a","op":"put","in":{"value":"create"},"call":1,"return":5,"out":{"status":200}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"create"},"call":2,"return":3,"out":{"status":401}}`, false},
	{"data shown beyond the rights", "rights", `
{"client":1,"part":"a","op":"put","in":{"value":"read"},"call":1,"return":2,"out":{"status":200}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"read"},"call":3,"return":4,"out":{"status":200,"value":"clear"}}`, false},
	{"an old key goes on", "rights", `
{"client":1,"part":"a","op":"regenerate","in":{},"call":1,"return":2,"out":{"status":200,"key":"k1"}}
{"client":2,"part":"a","op":"use","in":{"key":"k0","value":"create"},"call":3,"return":4,"out":{"status":201}}`, false},
}

func TestHistories(t *testing.T) {
	for _, one := range histories {
		t.Run(one.kind+": "+one.name, func(t *testing.T) {
			operations, err := readHistory(strings.NewReader(one.lines))
			if err != nil {
				t.Fatal(err)
			}
			found, err := judge(one.kind, operations, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if (len(found.Violations) == 0) != one.legal || len(found.Unknown) > 0 {
				t.Errorf("legal: expected %v, got %+v", one.legal, found)
			}
		})
	}
}

func TestEachKindIsTriedBothWays(t *testing.T) {
	for kind := range specs {
		var legal, illegal int
		for _, one := range histories {
			if one.kind == kind && one.legal {
				legal++
			} else if one.kind == kind {
				illegal++
			}
		}
		if legal == 0 || illegal == 0 {
			t.Errorf("%s: %d legal and %d illegal histories", kind, legal, illegal)
		}
	}
}

func TestWhatTakesTooLongIsUnknown(t *testing.T) {
	var part []*operation
	for at := 0; at < 40; at++ {
		value := fmt.Sprintf("v%d", at)
		part = append(part, &operation{Part: "a", Op: "create", In: input{Value: value}})
		part = append(part, &operation{Part: "a", Op: "delete"})
	}
	back := int64(100)
	wrong := &output{Status: 200, Value: "nobody wrote this"}
	get := &operation{Part: "a", Op: "get", Call: 99, Return: &back, Out: wrong}
	found, err := judge("register", append(part, get), 10*time.Millisecond)
	if err != nil || len(found.Unknown) != 1 || len(found.Violations) != 0 {
		t.Errorf("expected one unknown part, got %+v, %v", found, err)
	}
}

func TestNothingThatIsNotUnderstoodIsJudged(t *testing.T) {
	for name, line := range map[string]string{
		"a member that nobody knows":  `{"part":"a","op":"get","call":1,"returned":2}`,
		"an answer without its time":  `{"part":"a","op":"get","call":1,"out":{"status":200}}`,
		"a time without its answer":   `{"part":"a","op":"get","call":1,"return":2}`,
		"an end before the beginning": `{"part":"a","op":"get","call":3,"return":2,"out":{"status":200}}`,
		"an operation of no part":     `{"op":"get","call":1,"return":2,"out":{"status":200}}`,
		"a line that was cut short":   `{"part":"a","op":"get","call":1,`,
	} {
		if _, err := readHistory(strings.NewReader(line)); err == nil {
			t.Errorf("accepted %s", name)
		}
	}
	if _, err := judge("nothing", nil, time.Minute); err == nil {
		t.Error("accepted a kind that nobody knows")
	}
}
