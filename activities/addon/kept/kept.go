// Package kept says what the set store keeps of an add-on: renders, plans and inventories.
package kept

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"example.com/fairlead/activities/addon/manifest"
	"example.com/fairlead/activities/addon/plan"
	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/addon/setstore"
)

// Render is what the source of an add-on made, once.
type Render struct {
	// Revision is for people: chart-version, or a commit.
	Revision string
	// Version and Digest are what exactly the source was.
	Version, Digest string
	// Content tells the objects and hooks that were wished for from any others.
	Content string
	// Input is the digest of what a chart was rendered from, and Answers are what its
	// templates looked up; both are empty for a folder.
	Input   render.Digest
	Answers []render.Answer
	// Set has namespaces and the add-on's label: it is what is applied.
	Set manifest.Set
}

// Plan is what a sync would do.
type Plan struct {
	plan.Plan

	// Render that it was made of.
	Render setstore.Digest `json:"render"`
	// Previous is the inventory that it was made with.
	Previous setstore.Digest `json:"previous,omitempty"`
	// Made is when.
	Made time.Time `json:"made,omitzero"`
}

// Inventory is every object that is, or may be, in the cluster. Objects without a UID may
// be.
type Inventory []plan.Owned

// Store keeps the renders, plans and inventories of add-ons.
type Store struct{ *setstore.Store }

// storedRender is a Render as it is kept.
type storedRender struct {
	Revision string          `json:"revision,omitempty"`
	Version  string          `json:"version,omitempty"`
	Digest   string          `json:"digest,omitempty"`
	Content  string          `json:"content"`
	Input    render.Digest   `json:"input,omitzero"`
	Answers  []render.Answer `json:"answers,omitempty"`
	Set      json.RawMessage `json:"set"`
}

// PutRender keeps a render.
func (s Store) PutRender(ctx context.Context, addon string, r Render) (setstore.Digest, error) {
	stored, err := r.stored()
	if err != nil {
		return "", err
	}
	return s.put(ctx, addon, setstore.Render, stored)
}

// RenderDigest is what PutRender gives for r, which need not be kept.
func (s Store) RenderDigest(addon string, r Render) (setstore.Digest, error) {
	stored, err := r.stored()
	if err != nil {
		return "", err
	}
	return s.digest(addon, setstore.Render, stored)
}

func (r Render) stored() (storedRender, error) {
	set, err := manifest.Encode(r.Set)
	return storedRender{
		Revision: r.Revision, Version: r.Version, Digest: r.Digest, Content: r.Content, Input: r.Input, Answers: r.Answers, Set: set,
	}, err
}

// Render reads what PutRender kept.
func (s Store) Render(ctx context.Context, d setstore.Digest) (Render, error) {
	var stored storedRender
	if err := s.get(ctx, d, &stored); err != nil {
		return Render{}, err
	}
	set, err := manifest.Decode(stored.Set)
	if err != nil {
		return Render{}, err
	}
	return Render{
		Revision: stored.Revision, Version: stored.Version, Digest: stored.Digest, Content: stored.Content,
		Input: stored.Input, Answers: stored.Answers, Set: set,
	}, nil
}

// PutPlan keeps a plan.
func (s Store) PutPlan(ctx context.Context, addon string, p Plan) (setstore.Digest, error) {
	return s.put(ctx, addon, setstore.Plan, p)
}

// Plan reads what PutPlan kept.
func (s Store) Plan(ctx context.Context, d setstore.Digest) (p Plan, err error) {
	return p, s.get(ctx, d, &p)
}

// PutInventory keeps an inventory.
func (s Store) PutInventory(ctx context.Context, addon string, i Inventory) (setstore.Digest, error) {
	return s.put(ctx, addon, setstore.Inventory, i)
}

// InventoryDigest is what PutInventory gives for i, which need not be kept.
func (s Store) InventoryDigest(addon string, i Inventory) (setstore.Digest, error) {
	return s.digest(addon, setstore.Inventory, i)
}

// Inventory reads what PutInventory kept. No digest is that of an empty one.
func (s Store) Inventory(ctx context.Context, d setstore.Digest) (i Inventory, err error) {
	if d == "" {
		return nil, nil
	}
	return i, s.get(ctx, d, &i)
}

func (s Store) put(ctx context.Context, addon string, kind setstore.Kind, v any) (setstore.Digest, error) {
	data, err := encode(addon, kind, v)
	if err != nil {
		return "", err
	}
	return s.Put(ctx, addon, kind, data)
}

func (s Store) digest(addon string, kind setstore.Kind, v any) (setstore.Digest, error) {
	data, err := encode(addon, kind, v)
	if err != nil {
		return "", err
	}
	return s.Digest(addon, kind, data), nil
}

func encode(addon string, kind setstore.Kind, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode the %s of add-on %s: %w", kind, addon, err)
	}
	return data, nil
}

func (s Store) get(ctx context.Context, d setstore.Digest, into any) error {
	data, err := s.Get(ctx, d)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("decode set %s: %w", d, err)
	}
	return nil
}
