// Command checker judges a log of the audit by the packages of Go's module database.
//
// It reads what Coffer made from its input, as JSON, and prints what those packages make of it. It
// fails only where it could not read.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// inclusion is a proof that the tree of a size has the leaf at an index.
type inclusion struct {
	Index int64       `json:"index"`
	Size  int64       `json:"size"`
	Proof []tlog.Hash `json:"proof"`
}

// consistency is a proof that a tree begins with all leaves of an older one.
type consistency struct {
	Older int64       `json:"older"`
	Newer int64       `json:"newer"`
	Proof []tlog.Hash `json:"proof"`
}

// tile has up to 256 hashes, in the order of the leaves below.
type tile struct {
	Level  int    `json:"level"`
	Index  int64  `json:"index"`
	Hashes []byte `json:"hashes"`
}

type input struct {
	Key           string        `json:"key"`
	Note          string        `json:"note"`
	Changed       []string      `json:"changed"`
	Secret        string        `json:"secret"`
	Leaves        []tlog.Hash   `json:"leaves"`
	Inclusions    []inclusion   `json:"inclusions"`
	Consistencies []consistency `json:"consistencies"`
	Tiles         []tile        `json:"tiles"`
}

type output struct {
	// Text and Signer are those of the note.
	Text   string `json:"text"`
	Signer string `json:"signer"`
	// Opened has the changed notes that were opened all the same.
	Opened []string `json:"opened"`
	// Root is that of all leaves, in base64.
	Root string `json:"root"`
	// Failed has what is not as this package has it.
	Failed []string `json:"failed"`
	// Note is the text of the note, signed here by the secret.
	Note string `json:"note"`
	// Proofs of this package for the same questions.
	Inclusions    []tlog.RecordProof `json:"inclusions"`
	Consistencies []tlog.TreeProof   `json:"consistencies"`
}

// store keeps all hashes of a tree in their order.
type store []tlog.Hash

func (s *store) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for at, index := range indexes {
		hashes[at] = (*s)[index]
	}
	return hashes, nil
}

func storeOf(leaves []tlog.Hash) (*store, error) {
	var all store
	for at, leaf := range leaves {
		hashes, err := tlog.StoredHashesForRecordHash(int64(at), leaf, &all)
		if err != nil {
			return nil, err
		}
		all = append(all, hashes...)
	}
	return &all, nil
}

func judgeNotes(in input, out *output) error {
	key, err := note.NewVerifier(in.Key)
	if err != nil {
		return err
	}
	known := note.VerifierList(key)
	opened, err := note.Open([]byte(in.Note), known)
	if err != nil {
		return err
	}
	out.Text, out.Signer = opened.Text, opened.Sigs[0].Name
	for _, changed := range in.Changed {
		if _, err := note.Open([]byte(changed), known); err == nil {
			out.Opened = append(out.Opened, changed)
		}
	}
	signer, err := note.NewSigner(in.Secret)
	if err != nil {
		return err
	}
	signed, err := note.Sign(&note.Note{Text: opened.Text}, signer)
	out.Note = string(signed)
	return err
}

func judgeInclusions(in input, all *store, out *output) error {
	for _, each := range in.Inclusions {
		root, err := tlog.TreeHash(each.Size, all)
		if err != nil {
			return err
		}
		err = tlog.CheckRecord(each.Proof, each.Size, root, each.Index, in.Leaves[each.Index])
		if err != nil {
			out.Failed = append(out.Failed, fmt.Sprintf("entry %d of %d", each.Index, each.Size))
		}
		proof, err := tlog.ProveRecord(each.Size, each.Index, all)
		if err != nil {
			return err
		}
		out.Inclusions = append(out.Inclusions, proof)
	}
	return nil
}

func judgeConsistencies(in input, all *store, out *output) error {
	for _, each := range in.Consistencies {
		older, err := tlog.TreeHash(each.Older, all)
		if err != nil {
			return err
		}
		newer, err := tlog.TreeHash(each.Newer, all)
		if err != nil {
			return err
		}
		if err := tlog.CheckTree(each.Proof, each.Newer, newer, each.Older, older); err != nil {
			out.Failed = append(out.Failed, fmt.Sprintf("%d to %d", each.Older, each.Newer))
		}
		proof, err := tlog.ProveTree(each.Newer, each.Older, all)
		if err != nil {
			return err
		}
		out.Consistencies = append(out.Consistencies, proof)
	}
	return nil
}

func judgeTiles(in input, all *store, out *output) error {
	for _, each := range in.Tiles {
		width := len(each.Hashes) / tlog.HashSize
		wanted := tlog.Tile{H: 8, L: each.Level, N: each.Index, W: width}
		data, err := tlog.ReadTileData(wanted, all)
		if err != nil {
			return err
		}
		if !bytes.Equal(data, each.Hashes) {
			out.Failed = append(out.Failed, wanted.Path())
		}
	}
	return nil
}

func judge(in input) (output, error) {
	out := output{Opened: []string{}, Failed: []string{}}
	if err := judgeNotes(in, &out); err != nil {
		return out, err
	}
	all, err := storeOf(in.Leaves)
	if err != nil {
		return out, err
	}
	root, err := tlog.TreeHash(int64(len(in.Leaves)), all)
	if err != nil {
		return out, err
	}
	out.Root = root.String()
	for _, part := range []func(input, *store, *output) error{
		judgeInclusions, judgeConsistencies, judgeTiles,
	} {
		if err := part(in, all, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	out, err := judge(in)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(out)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, strings.TrimSpace(err.Error()))
		os.Exit(1)
	}
}
