// Command slack_notify posts to Slack when an agent has finished.
//
// Build it into the hooks directory:
//
//	go build -o .kodelet/hooks/slack_notify ./slack_notify/main.go
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"
)

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type agentStop struct {
	Event     string    `json:"event"`
	ConvID    string    `json:"conv_id"`
	CWD       string    `json:"cwd"`
	InvokedBy string    `json:"invoked_by"`
	Messages  []message `json:"messages"`
}

func main() {
	if len(os.Args) < 2 {
		os.Exit(1)
	}
	switch os.Args[1] {
	case "hook":
		fmt.Println("agent_stop")
	case "run":
		if err := notify(os.Getenv("SLACK_WEBHOOK_URL")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	default:
		os.Exit(1)
	}
}

// notify posts one line about the conversation on stdin; without an address it does nothing.
func notify(webhook string) error {
	if webhook == "" {
		return nil
	}
	var stop agentStop
	if err := json.NewDecoder(os.Stdin).Decode(&stop); err != nil {
		return err
	}
	text := fmt.Sprintf("Conversation %s is finished (%d messages).", stop.ConvID, len(stop.Messages))
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		return err
	}
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Post(webhook, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		return fmt.Errorf("Slack answered %s", answer.Status)
	}
	return nil
}
