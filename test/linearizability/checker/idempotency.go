package main

// unknownID is of a token that an open request made: the next answer tells it.
const unknownID = "?"

// idempotencyState is what one idempotency key has made, and for which body.
type idempotencyState struct {
	id   string
	body string
	// isGone: the token was deleted, which lets nobody make another one.
	isGone bool
}

func (state idempotencyState) learn(id string) (bool, idempotencyState) {
	isIt := state.id == id || state.id == unknownID
	return isIt, idempotencyState{id, state.body, state.isGone}
}

func stepIdempotency(state idempotencyState, op *operation) (bool, idempotencyState) {
	switch op.Op {
	case "create":
		return createOnce(state, op)
	case "list":
		return listMade(state, op)
	case "delete":
		isIt, next := state.learn(op.In.ID)
		if !isIt || state.isGone {
			return hasStatus(op, 404), state
		}
		next.isGone = true
		return hasStatus(op, 204), next
	}
	return false, state
}

func listMade(state idempotencyState, op *operation) (bool, idempotencyState) {
	ids := op.Out.IDs
	if !hasStatus(op, 200) || op.Out.Total != len(ids) {
		return false, state
	}
	if state.id == "" || state.isGone || len(ids) != 1 {
		return (state.id == "" || state.isGone) && len(ids) == 0, state
	}
	return state.learn(ids[0])
}

// createOnce also holds that "under way" is said only while something is.
func createOnce(state idempotencyState, op *operation) (bool, idempotencyState) {
	isNew, isOther := state.id == "", state.body != op.In.Value
	switch {
	case op.isOpen() && isNew:
		return true, idempotencyState{id: unknownID, body: op.In.Value}
	case op.isOpen():
		return true, state
	case op.Out.Reason == "under way":
		return op.Out.Status == 409 && op.overlaps, state
	case isNew:
		return op.Out.Status == 201, idempotencyState{id: op.Out.ID, body: op.In.Value}
	case state.isGone && op.Out.Status == 404:
		return true, state
	case isOther:
		return op.Out.Status == 409 && op.Out.Reason == "another body", state
	case state.isGone || op.Out.Status != 201:
		return false, state
	}
	return state.learn(op.Out.ID)
}
