package main

import (
	"sort"
	"strings"
)

// setState is the ids of the tokens that have one tag: sorted, each with a comma behind it.
type setState string

func (state setState) has(id string) bool {
	return strings.HasPrefix(string(state), id+",") || strings.Contains(string(state), ","+id+",")
}

func (state setState) ids() []string {
	if state == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(state), ","), ",")
}

func setOf(ids []string) setState {
	sorted := append([]string{}, ids...)
	sort.Strings(sorted)
	state := ""
	for _, id := range sorted {
		state += id + ","
	}
	return setState(state)
}

func (state setState) with(id string) setState { return setOf(append(state.ids(), id)) }

func (state setState) without(id string) setState {
	var rest []string
	for _, other := range state.ids() {
		if other != id {
			rest = append(rest, other)
		}
	}
	return setOf(rest)
}

func stepSet(state setState, op *operation) (bool, setState) {
	isIn := state.has(op.In.ID)
	switch {
	case op.Op == "create" && isIn:
		return hasStatus(op, 409), state
	case op.Op == "create":
		return hasStatus(op, 201), state.with(op.In.ID)
	case op.Op == "delete" && !isIn:
		return hasStatus(op, 404), state
	case op.Op == "delete":
		return hasStatus(op, 204), state.without(op.In.ID)
	case op.Op == "list":
		isAll := hasStatus(op, 200) && setOf(op.Out.IDs) == state
		return isAll && op.Out.Total == len(op.Out.IDs), state
	}
	return false, state
}

// isUnseenMember is so of an open create whose token no list shows and no delete found.
func isUnseenMember(op *operation, part []*operation) bool {
	if op.Op != "create" || !op.isOpen() {
		return false
	}
	for _, other := range part {
		if other == op || other.isOpen() {
			continue
		}
		if other.In.ID == op.In.ID && other.Out.Status != 404 || setOf(other.Out.IDs).has(op.In.ID) {
			return false
		}
	}
	return true
}
