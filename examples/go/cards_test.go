// Package shop is tested against a real vault, with the standard library alone.
//
// `coffer dev --json` starts a throw-away vault and prints one line of JSON: where it listens, and
// a key of each kind. It ends with the program that started it, however that ends.
//
//	COFFER=$PWD/dist/coffer go test -C examples/go
package shop

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const number = "4242424242424242"

// The line of JSON, parsed.
type facts struct {
	BaseURL       string `json:"base_url"`
	ManagementKey string `json:"management_key"`
	PrivateKey    string `json:"private_key"`
	PublicKey     string `json:"public_key"`
}

var vault facts

func startVault() (*exec.Cmd, facts, error) {
	name := os.Getenv("COFFER")
	if name == "" {
		name = "coffer"
	}
	command := exec.Command(name, "dev", "--port", "0", "--json")
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, facts{}, err
	}
	if err := command.Start(); err != nil {
		return nil, facts{}, err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return nil, facts{}, fmt.Errorf("the vault did not start: %w", err)
	}
	var started facts
	return command, started, json.Unmarshal(line, &started)
}

// In a process of its own, this test starts a vault and waits to be killed.
const asParent = "SHOP_TEST_AS_PARENT"

func TestMain(m *testing.M) {
	command, started, err := startVault()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	vault = started
	if os.Getenv(asParent) != "" {
		fmt.Println(vault.BaseURL)
		select {}
	}
	code := m.Run()
	command.Process.Signal(syscall.SIGTERM)
	command.Wait()
	os.Exit(code)
}

// A token, as far as these tests look at it.
type token struct {
	ID   string `json:"id"`
	Data struct {
		Number string `json:"number"`
	} `json:"data"`
}

func ask(t *testing.T, key, method, path string, body any, answer any) int {
	t.Helper()
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		sent = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, vault.BaseURL+path, sent)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("SVC-API-KEY", key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if answer != nil {
		if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
	return response.StatusCode
}

func createCard(t *testing.T) token {
	t.Helper()
	card := map[string]any{"type": "card", "data": map[string]string{"number": number}}
	var made token
	if status := ask(t, vault.PublicKey, "POST", "/tokens", card, &made); status != 201 {
		t.Fatalf("a card was answered %d", status)
	}
	return made
}

func TestAPageStoresACardAndTheBackendReadsIt(t *testing.T) {
	made := createCard(t)
	if made.Data.Number != "XXXXXXXXXXXX4242" {
		t.Errorf("the page was shown %q", made.Data.Number)
	}
	var read token
	ask(t, vault.PrivateKey, "GET", "/tokens/"+made.ID, nil, &read)
	if read.Data.Number != number {
		t.Errorf("the backend was shown %q", read.Data.Number)
	}
	if status := ask(t, vault.PublicKey, "GET", "/tokens/"+made.ID, nil, nil); status != 403 {
		t.Errorf("the page may read: %d", status)
	}
}

func TestTheSupportDeskSeesTheLastFourDigits(t *testing.T) {
	made := createCard(t)
	desk := map[string]any{
		"name": "Support desk", "type": "private", "permissions": []string{"token:read"},
	}
	var application struct {
		Key string `json:"key"`
	}
	ask(t, vault.ManagementKey, "POST", "/applications", desk, &application)
	var read token
	ask(t, application.Key, "GET", "/tokens/"+made.ID, nil, &read)
	if read.Data.Number != "XXXXXXXXXXXX4242" {
		t.Errorf("the desk was shown %q", read.Data.Number)
	}
}

func answers(address string) bool {
	response, err := http.Get(address + "/tokens")
	if err != nil {
		return false
	}
	response.Body.Close()
	return true
}

func TestTheVaultEndsWhenItsParentIsKilled(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	if _, err := fmt.Fscanln(out, &address); err != nil {
		t.Fatal(err)
	}
	if !answers(address) {
		t.Fatal("the vault of the other process does not answer")
	}
	parent.Process.Kill()
	parent.Wait()
	for tries := 0; tries < 100 && answers(address); tries++ {
		time.Sleep(100 * time.Millisecond)
	}
	if answers(address) {
		t.Error("the vault has outlived its parent")
	}
}
