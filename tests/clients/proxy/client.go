// Asks both servers. Nothing here knows of retape.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	for _, url := range []string{os.Args[1] + "/v1/agents", os.Args[2] + "/v1/models"} {
		answer, err := http.Get(url)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		body, _ := io.ReadAll(answer.Body)
		fmt.Println(answer.StatusCode, string(body))
	}
}
