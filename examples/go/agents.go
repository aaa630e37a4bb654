// Package agents is a client of an agent server.
package agents

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
)

// Server is an agent server, and how it is asked.
type Server struct {
	URL    string
	Client *http.Client
}

// Agents lists the agents.
func (s Server) Agents() (agents []string, err error) {
	answer, err := s.Client.Get(s.URL + "/v1/agents")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return agents, json.NewDecoder(answer.Body).Decode(&agents)
}

// Ask sends a message, and returns the words of the answer as they come.
func (s Server) Ask(text string) (words []string, err error) {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return nil, err
	}
	answer, err := s.Client.Post(s.URL+"/v1/messages", "application/json", strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for lines.Scan() {
		if word := strings.TrimPrefix(lines.Text(), "data: "); word != lines.Text() {
			words = append(words, word)
		}
	}
	return words, lines.Err()
}
