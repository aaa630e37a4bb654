package agents

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"testing"

	"example.com/agents/retape"
)

// live is the server that is recorded: AGENTS_URL, or a small one of this process. In replay nothing is asked of it.
func live(t *testing.T) string {
	if url := os.Getenv("AGENTS_URL"); url != "" {
		return url
	}
	routes := http.NewServeMux()
	routes.HandleFunc("/v1/agents", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "application/json")
		fmt.Fprint(w, `["agent-1"]`)
	})
	routes.HandleFunc("/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("content-type", "text/event-stream")
		for _, word := range []string{"Hello", "you"} {
			fmt.Fprintf(w, "data: %s\n\n", word)
			w.(http.Flusher).Flush()
		}
	})
	server := httptest.NewServer(routes)
	t.Cleanup(server.Close)
	return server.URL
}

func TestAgents(t *testing.T) {
	server := Server{URL: live(t), Client: retape.Client(t)}

	agents, err := server.Agents()

	if err != nil || !reflect.DeepEqual(agents, []string{"agent-1"}) {
		t.Fatal(agents, err)
	}
}

func TestStream(t *testing.T) {
	for _, text := range []string{"hi", "ho"} {
		text := text // before Go 1.22, the tests would share it
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			server := Server{URL: live(t), Client: retape.Client(t)}

			words, err := server.Ask(text)

			if err != nil || !reflect.DeepEqual(words, []string{"Hello", "you"}) {
				t.Fatal(words, err)
			}
		})
	}
}
