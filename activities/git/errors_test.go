package git_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/fairlead/activities/git"
)

func TestErrorsSayWhetherToRetry(t *testing.T) {
	for _, tt := range []struct {
		status int
		class  error
		want   string
	}{
		{http.StatusUnauthorized, git.ErrPermanent, "credentialsSecretRef"},
		{http.StatusForbidden, git.ErrPermanent, "do not let it be read"},
		{http.StatusNotFound, git.ErrPermanent, "check its URL"},
		{http.StatusTeapot, git.ErrPermanent, "418"},
		{http.StatusTooManyRequests, git.ErrTemporary, "429"},
		{http.StatusBadGateway, git.ErrTemporary, "502"},
		{http.StatusFound, git.ErrPermanent, "use the URL that it leads to"},
	} {
		t.Run(http.StatusText(tt.status), func(t *testing.T) {
			s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://git.example/info/refs?token="+password)
				w.WriteHeader(tt.status)
				_, _ = w.Write([]byte(password))
			}))
			defer s.Close()
			reader := &git.Reader{Dir: t.TempDir(), HTTP: s.Client().Transport}
			_, err := reader.Resolve(t.Context(), s.URL, "main", nil)
			_, filesErr := reader.Files(t.Context(), s.URL, strings.Repeat("a", 40), nil)
			for _, err := range []error{err, filesErr} {
				if !errors.Is(err, tt.class) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), password) {
					t.Errorf("error %v, want a %v that says %q", err, tt.class, tt.want)
				}
			}
		})
	}
	t.Run("no server", func(t *testing.T) {
		s := httptest.NewTLSServer(nil)
		s.Close()
		_, err := (&git.Reader{}).Resolve(t.Context(), s.URL, "main", nil)
		if !errors.Is(err, git.ErrTemporary) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("no repository at a path", func(t *testing.T) {
		for _, dir := range []string{t.TempDir(), "/none"} {
			_, err := (&git.Reader{}).Resolve(t.Context(), dir, "main", nil)
			_, filesErr := (&git.Reader{}).Files(t.Context(), dir, strings.Repeat("a", 40), nil)
			if !errors.Is(err, git.ErrPermanent) || !errors.Is(filesErr, git.ErrPermanent) {
				t.Errorf("errors %v, %v", err, filesErr)
			}
		}
	})
	t.Run("an answer without end", func(t *testing.T) {
		s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusBadRequest)
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}))
		defer s.Close()
		_, err := (&git.Reader{HTTP: s.Client().Transport}).Resolve(t.Context(), s.URL, "main", nil)
		if !errors.Is(err, git.ErrPermanent) || !strings.Contains(err.Error(), "400") {
			t.Errorf("error %v", err)
		}
	})
}
