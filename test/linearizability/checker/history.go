package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// input is what a client asked for. Which fields count depends on the operation.
type input struct {
	ID    string `json:"id,omitempty"`
	Value string `json:"value,omitempty"`
	Key   string `json:"key,omitempty"`
}

// output is what the vault answered.
type output struct {
	Status int      `json:"status"`
	ID     string   `json:"id,omitempty"`
	Value  string   `json:"value,omitempty"`
	Key    string   `json:"key,omitempty"`
	IDs    []string `json:"ids,omitempty"`
	Total  int      `json:"total,omitempty"`
	Reason string   `json:"reason,omitempty"`
}

// operation is one line of a history. Times are nanoseconds of one monotonic clock.
type operation struct {
	Client int    `json:"client"`
	Part   string `json:"part"`
	Op     string `json:"op"`
	In     input  `json:"in"`
	// Out and Return are absent while an operation is open: it may have happened or not.
	Out    *output `json:"out,omitempty"`
	Call   int64   `json:"call"`
	Return *int64  `json:"return,omitempty"`
	// Ended is when the connection of an open operation broke: its process is gone by then.
	Ended *int64 `json:"ended,omitempty"`

	// overlaps says that another write of the same part was under way meanwhile.
	overlaps bool
}

func (op *operation) isOpen() bool { return op.Out == nil }

// overlapsWith compares closed intervals; what never ended is under way for good.
func (op *operation) overlapsWith(other *operation) bool {
	return op.Call <= other.endOr(op.Call) && other.Call <= op.endOr(other.Call)
}

// endOr is when the operation was surely over, or the other time where nobody knows.
func (op *operation) endOr(unknown int64) int64 {
	if op.Return != nil {
		return *op.Return
	}
	if op.Ended != nil {
		return *op.Ended
	}
	return unknown
}

func (op *operation) check() error {
	if op.Part == "" || op.Op == "" {
		return errors.New("an operation needs a part and a name")
	}
	if (op.Out == nil) != (op.Return == nil) {
		return errors.New("an answer and its time come together")
	}
	if op.endOr(op.Call) < op.Call {
		return errors.New("an operation ended before it was called")
	}
	return nil
}

// readHistory reads JSON lines.
func readHistory(lines io.Reader) ([]*operation, error) {
	decoder := json.NewDecoder(lines)
	decoder.DisallowUnknownFields()
	var history []*operation
	for {
		op := new(operation)
		err := decoder.Decode(op)
		if err == io.EOF {
			return history, nil
		}
		if err == nil {
			err = op.check()
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", len(history)+1, err)
		}
		history = append(history, op)
	}
}

// split gives the operations of each part; parts do not touch each other.
func split(history []*operation) map[string][]*operation {
	parts := map[string][]*operation{}
	for _, op := range history {
		parts[op.Part] = append(parts[op.Part], op)
	}
	return parts
}
