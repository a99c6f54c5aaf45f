// Command checker judges the history of a vault by Porcupine, a checker of linearizability.
//
//	checker KIND FILE
//
// It prints a verdict as one line of JSON. It fails only where it could not read.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// limit is for one part of a history; most take milliseconds.
const limit = 60 * time.Second

func run(kind, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	history, err := readHistory(file)
	if err != nil {
		return err
	}
	found, err := judge(kind, history, limit)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(found)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: checker KIND FILE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "checker:", err)
		os.Exit(1)
	}
}
