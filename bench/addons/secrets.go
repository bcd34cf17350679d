package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	enumspb "go.temporal.io/api/enums/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"example.com/fairlead/bench/internal/history"
	"example.com/fairlead/temporal/wire"
)

const mergePatch = types.MergePatchType

// search looks for secrets in what was told of the add-on: its histories and Events. Its
// object was looked at all along.
func (l *life) search(ctx context.Context) error {
	if err := l.searchHistories(ctx); err != nil {
		return err
	}
	var events corev1.EventList
	if err := l.client.List(ctx, &events); err != nil {
		return err
	}
	n := 0
	for i := range events.Items {
		e := &events.Items[i]
		if e.InvolvedObject.Kind != "Addon" || e.InvolvedObject.Name != l.name {
			continue
		}
		n++
		if v := l.tells("Event "+e.Reason, e); v != nil {
			return v
		}
	}
	if n == 0 {
		return violated(broken, "no Event tells of it")
	}
	return nil
}

// searchHistories reads all runs of the workflow. The list of them may be behind.
func (l *life) searchHistories(ctx context.Context) error {
	id := wire.AddonID(l.ref)
	err := l.until(ctx, func(ctx context.Context) (bool, error) {
		runs, err := history.Runs(ctx, l.temporal, l.slot.name, id)
		if err != nil {
			return false, nil //nolint:nilerr // it is behind
		}
		for run := range runs {
			links, err := l.searchHistory(ctx, id, run)
			if err != nil {
				return false, err
			}
			for _, link := range links {
				if !runs[link] {
					return false, nil
				}
			}
		}
		return true, nil
	})
	if errors.Is(err, errStuck) {
		return fmt.Errorf("the list of the runs of %s stays behind", id)
	}
	return err
}

func (l *life) searchHistory(ctx context.Context, id, run string) (links []string, err error) {
	events := l.temporal.GetWorkflowHistory(ctx, id, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			return nil, fmt.Errorf("read run %s of %s: %w", run, id, err)
		}
		links = append(links, history.Links(e)...)
		if problem := history.Problem(e, l.secrets); problem != "" {
			return nil, violated(secretTold, "event %d (%s) of run %s of %s %s", e.GetEventId(), e.GetEventType(), run, id, problem)
		}
	}
	return links, nil
}

// tells says whether something holds a secret.
func (l *life) tells(what string, o any) error {
	data, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	if holds(data, l.secrets) {
		return violated(secretTold, "%s holds a secret", what)
	}
	return nil
}

func holds(data []byte, secrets [][]byte) bool {
	for _, s := range secrets {
		if bytes.Contains(data, s) {
			return true
		}
	}
	return false
}

// searchLogs looks for secrets in what the programs wrote.
func (r *run) searchLogs() error {
	logs, err := filepath.Glob(filepath.Join(r.dir, "*.log"))
	if err != nil {
		return fmt.Errorf("list the logs: %w", err)
	}
	for _, path := range logs {
		data, err := os.ReadFile(path) // #nosec G304 -- a file of this run
		if err != nil {
			return fmt.Errorf("search the logs: %w", err)
		}
		if holds(data, r.secrets) {
			v := violated(secretTold, "a secret stands in %s", filepath.Base(path))
			r.fail(v)
			return v
		}
	}
	return nil
}

// cleanUp deletes what would burden the lives after this one. There is no controller that
// could empty a namespace.
func (l *life) cleanUp(ctx context.Context) error {
	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	values := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: systemNamespace, Name: l.name}}
	return errors.Join(
		l.objects.Resource(definitions).Delete(ctx, "widgets."+group(l.name), metav1.DeleteOptions{}),
		l.client.Delete(ctx, values),
	)
}
