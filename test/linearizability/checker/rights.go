package main

// firstKey is what an application is created with.
const firstKey = "k0"

// rightsState is an application, which begins with all grants. The empty key is the first one.
type rightsState struct {
	grants    string
	key       string
	isDeleted bool
}

// granted says what each set of grants allows: permissions, and whether data is shown in clear.
var granted = map[string]struct{ create, read, clear bool }{
	"":            {true, true, true},
	"create":      {true, false, false},
	"read":        {false, true, false},
	"create-read": {true, true, false},
	"reveal":      {false, true, true},
}

func stepRights(state rightsState, op *operation) (bool, rightsState) {
	if op.Op == "use" {
		return useRights(state, op), state
	}
	if state.isDeleted {
		return hasStatus(op, 404), state
	}
	next := state
	switch op.Op {
	case "put":
		next.grants = op.In.Value
	case "regenerate":
		// Nobody knows the key if no answer came.
		next.key = "unknown"
		if !op.isOpen() {
			next.key = op.Out.Key
		}
	case "delete":
		next.isDeleted = true
		return hasStatus(op, 204), next
	default:
		return false, state
	}
	return hasStatus(op, 200), next
}

// useRights is what the key of the application gets for an operation on tokens.
func useRights(state rightsState, op *operation) bool {
	key := state.key
	if key == "" {
		key = firstKey
	}
	grants := granted[state.grants]
	shown := "hidden"
	if grants.clear {
		shown = "clear"
	}
	switch {
	case state.isDeleted || op.In.Key != key:
		return hasStatus(op, 401)
	case op.In.Value == "create" && grants.create:
		return hasStatus(op, 201)
	case op.In.Value != "create" && grants.read:
		return answers(op, output{Status: 200, Value: shown})
	}
	return hasStatus(op, 403)
}
