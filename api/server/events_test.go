package server_test

import (
	"context"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	crawl "example.com/fairlead/api/crawl/v1alpha1"
)

// events is a cache whose events come when the test says so.
type events struct {
	cache.Informer
	cluster client.Client
	handler toolscache.ResourceEventHandler
}

func (e *events) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return e, nil
}

func (e *events) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	e.handler = h
	var list crawl.ProxyList
	if err := e.cluster.List(context.Background(), &list); err != nil {
		return nil, err
	}
	for i := range list.Items {
		h.OnAdd(&list.Items[i], true)
	}
	return listed{}, nil
}

// listed says that all there was has been handed over.
type listed struct{}

func (listed) HasSynced() bool                          { return true }
func (listed) HasSyncedChecker() toolscache.DoneChecker { return listed{} }
func (listed) Name() string                             { return "Proxies" }
func (listed) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}
