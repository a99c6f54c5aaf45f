package main

// sessionState is of one session, whose creator and authorizer are applications of its own.
type sessionState struct {
	isAuthorized bool
	// isOver: the session is gone.
	isOver bool
	// hasNoAuthorizer: its key is refused from then on.
	hasNoAuthorizer bool
	// isNarrowed: the authorizer lost the permission that the session is given.
	isNarrowed bool
	// isLate: the instant is over at which an authorized session expires.
	isLate bool
}

func stepSession(state sessionState, op *operation) (bool, sessionState) {
	switch op.Op {
	case "use":
		return useSession(state, op), state
	case "authorize":
		return authorizeSession(state, op)
	case "end":
		return endSession(state, op)
	}
	return false, state
}

func useSession(state sessionState, op *operation) bool {
	switch {
	case state.isOver:
		return hasStatus(op, 401)
	case !state.isAuthorized:
		return hasStatus(op, 403)
	case state.isNarrowed:
		// Refused as one without the permission, or as one that is gone.
		return hasStatus(op, 403, 401)
	}
	return hasStatus(op, 200)
}

// authorizeSession knows no order of refusals where several are due.
func authorizeSession(state sessionState, op *operation) (bool, sessionState) {
	var refusals []int
	if state.hasNoAuthorizer {
		return hasStatus(op, 401), state
	}
	if state.isOver {
		refusals = append(refusals, 404)
	}
	if state.isNarrowed {
		refusals = append(refusals, 403, 404)
	}
	if state.isAuthorized {
		refusals = append(refusals, 409)
	}
	next := state
	next.isAuthorized = true
	next.isOver = state.isOver || state.isLate
	// A request that began before the instant may be judged before it and committed after it.
	mayBeLate := state.isLate && op.In.Value == "early" && len(refusals) == 0
	if state.isLate {
		refusals = append(refusals, 400)
	}
	if len(refusals) == 0 || mayBeLate && hasStatus(op, 200) {
		return hasStatus(op, 200), next
	}
	return hasStatus(op, refusals...), state
}

// endSession is one of the ways in which a session ends; what is deleted twice is not found.
func endSession(state sessionState, op *operation) (bool, sessionState) {
	next := state
	switch op.In.Value {
	case "delete-creator", "delete-session":
		next.isOver = true
		if state.isOver {
			return hasStatus(op, 404), state
		}
		return hasStatus(op, 204), next
	case "regenerate-creator":
		next.isOver = true
		return hasStatus(op, 200), next
	case "delete-authorizer":
		next.hasNoAuthorizer = true
		next.isOver = state.isOver || state.isAuthorized
		if state.hasNoAuthorizer {
			return hasStatus(op, 404), state
		}
		return hasStatus(op, 204), next
	case "regenerate-authorizer":
		next.hasNoAuthorizer = true
		next.isOver = state.isOver || state.isAuthorized
		return hasStatus(op, 200), next
	case "narrow-authorizer":
		next.isNarrowed = true
		return hasStatus(op, 200), next
	case "expire":
		next.isLate = true
		next.isOver = state.isOver || state.isAuthorized
		return true, next
	}
	return false, state
}
