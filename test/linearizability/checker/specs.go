package main

import "reflect"

// spec says what one part of a vault does when nothing happens at once. A step takes a state and an
// operation, and tells whether its answer is right there, and the state after it. States compare
// by ==.
type spec struct {
	initial interface{}
	step    func(state interface{}, op *operation) (bool, interface{})
	// isUnseen names open operations that need not have happened for any answer of the part: to
	// leave them out is no loss, and each doubles what there is to try. May be absent.
	isUnseen func(op *operation, part []*operation) bool
}

var specs = map[string]spec{
	"register":      specOf(stepRegister),
	"set":           specOfSet(),
	"deduplication": specOf(stepDeduplication),
	"idempotency":   specOf(stepIdempotency),
	"session":       specOf(stepSession),
	"rights":        specOf(stepRights),
}

// specOf begins with the zero value of its states.
func specOf[S comparable](step func(state S, op *operation) (bool, S)) spec {
	var initial S
	return spec{initial: initial, step: func(state interface{}, op *operation) (bool, interface{}) {
		isLegal, next := step(state.(S), op)
		return isLegal, next
	}}
}

func specOfSet() spec {
	set := specOf(stepSet)
	set.isUnseen = isUnseenMember
	return set
}

// answers says whether an operation was answered so; an open one may have been.
func answers(op *operation, wanted output) bool {
	return op.isOpen() || reflect.DeepEqual(*op.Out, wanted)
}

// hasStatus does so where the status is all that counts.
func hasStatus(op *operation, wanted ...int) bool {
	if op.isOpen() {
		return true
	}
	for _, status := range wanted {
		if op.Out.Status == status {
			return true
		}
	}
	return false
}
