package main

import (
	"fmt"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// verdict is what is printed of one history.
type verdict struct {
	Operations int `json:"operations"`
	Open       int `json:"open"`
	Parts      int `json:"parts"`
	// Violations names the parts that no order of their operations explains.
	Violations []string `json:"violations"`
	// Unknown names the parts that could not be judged in time: they are not passed.
	Unknown []string `json:"unknown"`
}

// observation names the operations that change nothing: open ones say nothing.
var observations = map[string]bool{"get": true, "list": true, "use": true}

// toPorcupine lets open operations return after all others: where they are put last, nobody sees
// whether they happened.
func toPorcupine(one spec, part []*operation) []porcupine.Operation {
	var end int64
	for _, op := range part {
		if last := op.endOr(op.Call); last > end {
			end = last
		}
	}
	var kept []porcupine.Operation
	for _, op := range part {
		isUnseen := one.isUnseen != nil && one.isUnseen(op, part)
		if op.isOpen() && (observations[op.Op] || isUnseen) {
			continue
		}
		back := end + 1
		if op.Return != nil {
			back = *op.Return
		}
		kept = append(kept, porcupine.Operation{Input: op, Call: op.Call, Return: back})
	}
	return kept
}

// markOverlaps compares what may be under way at the same time: all but observations.
func markOverlaps(part []*operation) {
	for at, op := range part {
		for with, other := range part {
			if at != with && !observations[other.Op] && op.overlapsWith(other) {
				op.overlaps = true
			}
		}
	}
}

func toModel(one spec) porcupine.Model {
	return porcupine.Model{
		Init: func() interface{} { return one.initial },
		Step: func(state, in, _ interface{}) (bool, interface{}) {
			return one.step(state, in.(*operation))
		},
	}
}

// judge checks each part of a history of a kind, each with the same limit of time.
func judge(kind string, history []*operation, limit time.Duration) (verdict, error) {
	one, isKnown := specs[kind]
	if !isKnown {
		return verdict{}, fmt.Errorf("no such kind: %s", kind)
	}
	parts := split(history)
	found := verdict{Operations: len(history), Parts: len(parts)}
	found.Violations, found.Unknown = []string{}, []string{}
	for _, op := range history {
		if op.isOpen() {
			found.Open++
		}
	}
	for name, part := range parts {
		markOverlaps(part)
		switch porcupine.CheckOperationsTimeout(toModel(one), toPorcupine(one, part), limit) {
		case porcupine.Illegal:
			found.Violations = append(found.Violations, name)
		case porcupine.Unknown:
			found.Unknown = append(found.Unknown, name)
		}
	}
	sort.Strings(found.Violations)
	sort.Strings(found.Unknown)
	return found, nil
}
