package main

// unknownID is of a token that an open request made: the next answer tells it.
const unknownID = "?"

// idempotencyState is what one idempotency key has made, and for which body.
type idempotencyState struct {
	id   string
	body string
}

func (state idempotencyState) learn(id string) (bool, idempotencyState) {
	return state.id == id || state.id == unknownID, idempotencyState{id, state.body}
}

func stepIdempotency(state idempotencyState, op *operation) (bool, idempotencyState) {
	switch op.Op {
	case "create":
		return createOnce(state, op)
	case "list":
		ids := op.Out.IDs
		if !hasStatus(op, 200) || op.Out.Total != len(ids) {
			return false, state
		}
		if state.id == "" || len(ids) != 1 {
			return state.id == "" && len(ids) == 0, state
		}
		return state.learn(ids[0])
	}
	return false, state
}

// createOnce also holds that "under way" is said only while something is.
func createOnce(state idempotencyState, op *operation) (bool, idempotencyState) {
	isNew, isOther := state.id == "", state.body != op.In.Value
	switch {
	case op.isOpen() && isNew:
		return true, idempotencyState{unknownID, op.In.Value}
	case op.isOpen():
		return true, state
	case op.Out.Reason == "under way":
		return op.Out.Status == 409 && op.overlaps, state
	case isNew:
		return op.Out.Status == 201, idempotencyState{op.Out.ID, op.In.Value}
	case isOther:
		return op.Out.Status == 409 && op.Out.Reason == "another body", state
	case op.Out.Status != 201:
		return false, state
	}
	return state.learn(op.Out.ID)
}
