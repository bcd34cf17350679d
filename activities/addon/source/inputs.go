package source

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/fairlead/activities/addon/render"
	"example.com/fairlead/activities/fetch"
	addons "example.com/fairlead/api/addons/v1alpha1"
)

// inputs are what the spec of an add-on names in the cluster.
type inputs struct {
	texts       []valuesText
	credentials *fetch.Credentials
	// secrets are all of them that are to be masked.
	secrets [][]byte
}

// valuesText is an entry of spec.valuesFrom.
type valuesText struct {
	// from names it for people.
	from string
	text []byte
}

// missingError is of something that a spec names and that is not there.
type missingError struct{ what, remedy string }

func (e *missingError) Error() string { return e.what + ": " + e.remedy }

func isMissing(err error) bool {
	var missing *missingError
	return errors.As(err, &missing)
}

// read reads all that is there. Its error is a missingError only if there is no other.
func (s *Sources) read(ctx context.Context, a *addons.Addon) (inputs, error) {
	var in inputs
	err := s.readCredentials(ctx, a, &in)
	for i, from := range a.Spec.ValuesFrom {
		if err != nil && !isMissing(err) {
			return in, err
		}
		if next := s.readValues(ctx, from, &in); next != nil && (err == nil || !isMissing(next)) {
			err = fmt.Errorf("spec.valuesFrom[%d]: %w", i, next)
		}
	}
	return in, err
}

func (s *Sources) readValues(ctx context.Context, from addons.ValuesSource, in *inputs) error {
	ref := from.ConfigMapRef
	if from.SecretRef != nil {
		ref = from.SecretRef
	}
	what, data, err := s.data(ctx, from)
	content, found := data[ref.Key]
	if err == nil && !found {
		err = &missingError{fmt.Sprintf("%s has no key %s", what, ref.Key), createOrSkip}
	}
	if isMissing(err) && ref.Optional {
		return nil
	}
	if err != nil {
		return err
	}
	in.texts = append(in.texts, valuesText{from: fmt.Sprintf("%s, key %s", what, ref.Key), text: content})
	if from.SecretRef != nil {
		in.secrets = append(in.secrets, secretsIn(content)...)
	}
	return nil
}

// createOrSkip is the remedy for values that are missing.
const createOrSkip = "create it, or set optional: true"

// data is what the object that from names holds.
func (s *Sources) data(ctx context.Context, from addons.ValuesSource) (what string, data map[string][]byte, err error) {
	if ref := from.SecretRef; ref != nil {
		var secret corev1.Secret
		what, err = s.get(ctx, "Secret", ref.Name, &secret, createOrSkip)
		return what, secret.Data, err
	}
	var settings corev1.ConfigMap
	what, err = s.get(ctx, "ConfigMap", from.ConfigMapRef.Name, &settings, createOrSkip)
	data = make(map[string][]byte, len(settings.Data))
	for key, value := range settings.Data {
		data[key] = []byte(value)
	}
	return what, data, err
}

// get reads an object, and names it for people.
func (s *Sources) get(ctx context.Context, kind, name string, into client.Object, remedy string) (what string, err error) {
	what = fmt.Sprintf("%s %s/%s", kind, s.Namespace, name)
	err = s.Client.Get(ctx, client.ObjectKey{Namespace: s.Namespace, Name: name}, into)
	if apierrors.IsNotFound(err) {
		return what, &missingError{what + " is not there", remedy}
	}
	if err != nil {
		return what, fmt.Errorf("read %s: %w", what, err)
	}
	return what, nil
}

func (s *Sources) readCredentials(ctx context.Context, a *addons.Addon, in *inputs) error {
	var ref *addons.SecretRef
	switch source := a.Spec.Source; {
	case source.Helm != nil:
		ref = source.Helm.CredentialsSecretRef
	case source.Git != nil:
		ref = source.Git.CredentialsSecretRef
	}
	if ref == nil {
		return nil
	}
	var secret corev1.Secret
	what, err := s.get(ctx, "Secret", ref.Name, &secret, "create it with the keys username and password, or token")
	if err != nil {
		return fmt.Errorf("credentialsSecretRef: %w", err)
	}
	// A file that a Secret is made of often ends with a line break.
	entry := func(key string) string { return strings.TrimRight(string(secret.Data[key]), "\r\n") }
	c := fetch.Credentials{Username: entry("username"), Password: entry("password"), Token: entry("token")}
	for _, text := range []string{c.Password, c.Token} {
		if text != "" {
			in.secrets = append(in.secrets, []byte(text))
		}
	}
	if c.Token == "" && (c.Username == "" || c.Password == "") {
		return fmt.Errorf("credentialsSecretRef: %w", &missingError{
			what + " has no credentials", "add the keys username and password, or token",
		})
	}
	in.credentials = &c
	return nil
}

// values are those of spec.values over those of spec.valuesFrom, the later over the earlier.
func (in inputs) values(a *addons.Addon) (map[string]any, error) {
	merged := map[string]any{}
	for _, t := range in.texts {
		values, err := render.Values(t.text)
		if err != nil { // which quotes the text
			return nil, fmt.Errorf("%s is no map of values: correct the YAML text", t.from)
		}
		merged = render.Merge(merged, values)
	}
	values, err := render.Values([]byte(a.Spec.Values))
	if err != nil {
		return nil, fmt.Errorf("spec.values: %w", err)
	}
	return render.Merge(merged, values), nil
}
