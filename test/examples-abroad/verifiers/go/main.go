// Reads cases, one JSON object a line, and prints for each whether the official verifier takes it
// (v1), and whether crypto/ed25519 takes it by the public key alone (v1a).
package main

import (
	"bufio"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

type webhook struct {
	Secret    string            `json:"secret"`
	PublicKey string            `json:"public_key"`
	Headers   map[string]string `json:"headers"`
	Body      []byte            `json:"body"`
}

func isSigned(w webhook) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(w.PublicKey, "whpk_"))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return false
	}
	signed := w.Headers["webhook-id"] + "." + w.Headers["webhook-timestamp"] + "." + string(w.Body)
	for _, part := range strings.Split(w.Headers["webhook-signature"], " ") {
		encoded, isAsymmetric := strings.CutPrefix(part, "v1a,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if isAsymmetric && err == nil && ed25519.Verify(key, []byte(signed), signature) {
			return true
		}
	}
	return false
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var w webhook
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			panic(err)
		}
		headers := http.Header{}
		for name, value := range w.Headers {
			headers.Set(name, value)
		}
		verifier, err := webhooks.NewWebhook(w.Secret)
		if err != nil {
			panic(err)
		}
		isTaken := verifier.Verify(w.Body, headers) == nil
		fmt.Printf("{\"v1\":%t,\"v1a\":%t}\n", isTaken, isSigned(w))
	}
}
