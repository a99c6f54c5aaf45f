package main

// registerState is a token of a chosen id: its data, or its absence.
type registerState struct {
	exists bool
	value  string
}

func stepRegister(state registerState, op *operation) (bool, registerState) {
	wanted := registerState{true, op.In.Value}
	switch {
	case op.Op == "create" && state.exists:
		return hasStatus(op, 409), state
	case op.Op == "create":
		return hasStatus(op, 201), wanted
	case !state.exists:
		return hasStatus(op, 404), state
	case op.Op == "get":
		return answers(op, output{Status: 200, Value: state.value}), state
	case op.Op == "patch":
		return hasStatus(op, 200), wanted
	case op.Op == "delete":
		return hasStatus(op, 204), registerState{}
	}
	return false, state
}
