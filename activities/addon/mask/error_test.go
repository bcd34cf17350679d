package mask

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const canary = "canary-canary"

func TestErrorHidesSecrets(t *testing.T) {
	whole := func(s string) string { return s }
	known := New([][]byte{[]byte(canary)})
	status := &apierrors.StatusError{ErrStatus: metav1.Status{
		Reason: metav1.StatusReasonInvalid, Message: "bad " + canary,
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: "not " + canary}}},
	}}
	for name, c := range map[string]struct {
		err  error
		is   func(error) bool
		want string
	}{
		"in its text":             {fmt.Errorf("read %s: %w", canary, fs.ErrNotExist), isMissing, "read <secret>: file does not exist"},
		"in what it wraps":        {quiet{fmt.Errorf("%s: %w", canary, fs.ErrNotExist)}, isMissing, "it failed"},
		"in one of what it wraps": {quiet{errors.Join(fs.ErrNotExist, errors.New(canary))}, isMissing, "it failed"},
		"of the API server":       {fmt.Errorf("apply %s: %w", canary, status), apierrors.IsInvalid, "apply <secret>: bad <secret>"},
	} {
		t.Run(name, func(t *testing.T) {
			got := known.Error(c.err, whole)
			if got.Error() != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
			if !c.is(got) {
				t.Error("it is of another class")
			}
			if texts := allTexts(got); strings.Contains(texts, canary) {
				t.Errorf("it can be unwrapped to the secret: %s", texts)
			}
		})
	}
}

func TestErrorKeepsWhatHasNoSecrets(t *testing.T) {
	err := fmt.Errorf("read: %w", &fs.PathError{Op: "open", Path: "a", Err: fs.ErrNotExist})
	got := New([][]byte{[]byte(canary)}).Error(err, strings.TrimSpace)
	if path := (*fs.PathError)(nil); !errors.As(got, &path) {
		t.Errorf("%v has no PathError any more", got)
	}
	if (Mask{}).Error(nil, strings.TrimSpace) != nil {
		t.Error("no error became one")
	}
}

func TestErrorShortens(t *testing.T) {
	got := Mask{}.Error(errors.New("a long text"), func(s string) string { return s[:6] })
	if got.Error() != "a long" {
		t.Errorf("it says %q", got)
	}
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// quiet does not say what it wraps.
type quiet struct{ error }

func (quiet) Error() string   { return "it failed" }
func (q quiet) Unwrap() error { return q.error }

// allTexts are those of err and of what it unwraps to.
func allTexts(err error) string {
	if err == nil {
		return ""
	}
	all := fmt.Sprintf("%v %+v", err, err)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		all += fmt.Sprint(status.Status())
	}
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range several.Unwrap() {
			all += allTexts(one)
		}
	}
	return all + allTexts(errors.Unwrap(err))
}
