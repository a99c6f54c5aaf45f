package main

// deduplicationState is the id of the one live token of some content; empty where none lives.
// The client that creates names an id, so that what an open create has made is known.
type deduplicationState string

func stepDeduplication(state deduplicationState, op *operation) (bool, deduplicationState) {
	id := deduplicationState(op.In.ID)
	switch {
	case op.Op == "create" && state == "":
		return answers(op, output{Status: 201, ID: op.In.ID, Value: "new"}), id
	case op.Op == "create":
		return answers(op, output{Status: 201, ID: string(state), Value: "deduplicated"}), state
	case state != id:
		return hasStatus(op, 404), state
	case op.Op == "get":
		return hasStatus(op, 200), state
	case op.Op == "delete":
		return hasStatus(op, 204), ""
	}
	return false, state
}
