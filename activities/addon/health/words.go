package health

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

// maxMessageBytes is the most that the words about one object take.
const maxMessageBytes = 300

// explained are the words of kstatus, and those of the controller where they say more.
func explained(result *status.Result) string {
	words := result.Message
	if len(result.Conditions) == 0 {
		return words
	}
	c := result.Conditions[0]
	if c.Message != words {
		words = joined(words, c.Message)
	}
	return cmp.Or(words, c.Reason, "its controller gives no reason")
}

// counted turns the counts of kstatus, as Available: 1/2, into a sentence.
func counted(kind, message string) string {
	what, counts, _ := strings.Cut(message, ": ")
	have, want, ok := strings.Cut(counts, "/")
	if !ok || strings.Trim(have+want, "0123456789") != "" {
		return message
	}
	pods := "replicas"
	if kind == "DaemonSet" {
		pods = "pods"
	}
	if what == "Replicas" {
		what = "there"
	}
	return fmt.Sprintf("%s of %s %s are %s", have, want, pods, strings.ToLower(what))
}

func joined(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + ": " + second
}

// short is a message on one line, without a full stop, and cut.
func short(message string) string {
	message = strings.TrimSuffix(strings.Join(strings.Fields(message), " "), ".")
	if len(message) <= maxMessageBytes {
		return message
	}
	end := maxMessageBytes
	for !utf8.RuneStart(message[end]) {
		end--
	}
	return message[:end] + " … (cut)"
}
