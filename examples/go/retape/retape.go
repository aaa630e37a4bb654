// Package retape gives each test a cassette. Copy it into your module: it needs the standard library and the
// command `retape`.
package retape

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// Client returns a client whose requests are recorded, or answered from the cassette of the test:
// `cassettes/TestAgents.json` beside the test. A request that nothing recorded answers fails the test.
func Client(t testing.TB) *http.Client {
	return &http.Client{Transport: Transport(t)}
}

// Transport is what Client uses, for clients that take a transport. All clients of a test have one cassette, whatever
// servers they ask.
func Transport(t testing.TB) http.RoundTripper {
	shared, known := transports.LoadOrStore(t.Name(), &transport{t: t})
	own := shared.(*transport)
	if !known {
		t.Cleanup(func() {
			transports.Delete(t.Name())
			own.finish()
		})
	}
	return own
}

// transports has one for each test that is running, by its name: suites wrap a test anew for each of their calls.
var transports sync.Map

type transport struct {
	t       testing.TB
	once    sync.Once
	server  *url.URL
	session string
	err     error
}

func (t *transport) RoundTrip(request *http.Request) (*http.Response, error) {
	origin := request.URL.Scheme + "://" + request.URL.Host
	t.once.Do(func() { t.err = t.open(origin) })
	if t.err != nil {
		return nil, t.err
	}
	led := request.Clone(request.Context())
	led.Header.Set("retape-for", t.session+" "+origin)
	led.URL.Scheme, led.URL.Host = t.server.Scheme, t.server.Host
	return http.DefaultTransport.RoundTrip(led)
}

func (t *transport) open(origin string) (err error) {
	if t.server, err = running(); err != nil {
		return err
	}
	folder, err := os.Getwd() // that of the package
	if err != nil {
		return err
	}
	var opened struct{ Session string }
	err = t.control("open", map[string]string{
		"cassette": nameOf(t.t.Name()),
		"folder":   folder + "/cassettes",
		"upstream": origin,
		"rerun":    "RETAPE_MODE=record go test -run " + quoted(only(t.t.Name())),
	}, &opened)
	t.session = opened.Session
	return err
}

// The name of a test's cassette: what a file or an address may not hold is replaced, and told apart by a short hash.
// It is the same in the plugins for other runners.
func nameOf(test string) string {
	parts := strings.Split(test, "/")
	for i, text := range parts {
		parts[i] = part(text)
	}
	return strings.Join(parts, "/")
}

const longest = 150

func part(text string) string {
	clean := strings.TrimRight(strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune(`\/:*?"<>|~%#`, r) {
			return '_'
		}
		return r
	}, text), " .")
	if clean == "" || clean == "-" || clean[0] == '.' {
		clean = "_" + clean
	}
	if clean == text && len(text) <= longest {
		return text
	}
	sum := sha1.Sum([]byte(text))
	hash := "-" + hex.EncodeToString(sum[:])[:8]
	for len(clean)+len(hash) > longest {
		_, size := utf8.DecodeLastRuneInString(clean)
		clean = clean[:len(clean)-size]
	}
	return clean + hash
}

// What selects a test alone: `go test` takes a regular expression for each level.
func only(test string) string {
	levels := strings.Split(test, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}

// A text as one word for a shell.
func quoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

func (t *transport) finish() {
	if t.session == "" {
		return
	}
	save := "yes"
	if t.t.Failed() {
		save = "no"
	}
	var summary struct {
		Misses []struct{ Explanation string }
	}
	if err := t.control("finish?save="+save+"&session="+url.QueryEscape(t.session), nil, &summary); err != nil {
		t.t.Error(err)
	}
	for _, miss := range summary.Misses {
		t.t.Error(miss.Explanation)
	}
}

// control asks the control API of the running retape.
func (t *transport) control(what string, asked, told any) error {
	body, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	request, err := http.NewRequest("POST", t.server.String()+"/-/retape/"+what, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("x-retape", "1")
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		return fmt.Errorf("retape: %s", said)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(said, told)
}

var (
	start   sync.Once
	address *url.URL
	failure error
	// process holds the standard input of retape, which ends when that is closed. Go closes what nothing holds.
	process *exec.Cmd
)

// running is where retape listens. The first test starts it, and it ends with the process of the tests.
func running() (*url.URL, error) {
	start.Do(func() { address, failure = run() })
	return address, failure
}

func run() (*url.URL, error) {
	if here := os.Getenv("RETAPE_URL"); here != "" {
		return url.Parse(here)
	}
	process = exec.Command("retape", "run", "--attached", "--allow-unused")
	process.Stderr = os.Stderr
	if _, err := process.StdinPipe(); err != nil {
		return nil, err
	}
	said, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("retape did not start: %w", err)
	}
	return url.Parse(strings.TrimSpace(line))
}
