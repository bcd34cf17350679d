package charts

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestStatusSaysWhetherToRetry(t *testing.T) {
	for _, tt := range []struct {
		status int
		class  error
		want   string
	}{
		{http.StatusUnauthorized, ErrPermanent, "credentialsSecretRef"},
		{http.StatusForbidden, ErrPermanent, "do not let it be read"},
		{http.StatusNotFound, ErrPermanent, "check the repository"},
		{http.StatusTooManyRequests, ErrTemporary, "retry"},
		{http.StatusInternalServerError, ErrTemporary, "retry"},
		{http.StatusServiceUnavailable, ErrTemporary, "retry"},
		{http.StatusNoContent, ErrPermanent, "no answer of a chart repository"},
		{http.StatusNotModified, ErrPermanent, "no answer of a chart repository"},
	} {
		t.Run(fmt.Sprint(tt.status), func(t *testing.T) {
			s := newSite(t)
			s.answer = func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(tt.status)
				return true
			}
			f, _ := newFetcher(t)
			src := s.source("")
			src.Repo += "?token=" + secret
			_, err := f.Resolve(t.Context(), src, nil)
			fails(t, err, tt.class, tt.want, s.URL+"/charts/index.yaml?…", fmt.Sprint(tt.status))
			var known *Error
			if !errors.As(err, &known) || known.Status != tt.status {
				t.Errorf("the status is not in %#v", known)
			}
		})
	}
}

// endless sends spaces for as long as somebody reads them.
func endless(w http.ResponseWriter, r *http.Request) bool {
	chunk := bytes.Repeat([]byte(" "), 32<<10)
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			break
		}
	}
	return true
}

// silent sends a beginning and then nothing.
func silent(w http.ResponseWriter, r *http.Request) bool {
	_, _ = fmt.Fprint(w, "entries:\n")
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
	return true
}

func bomb(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Encoding", "gzip")
	zipped := gzip.NewWriter(w)
	_, _ = zipped.Write(bytes.Repeat([]byte(" "), 64<<20))
	_ = zipped.Close()
	return true
}

func short(w http.ResponseWriter, _ *http.Request) bool {
	w.Header().Set("Content-Length", "100")
	_, _ = fmt.Fprint(w, "entries:\n")
	return true
}

// shortGzip ends within the header of its compression.
func shortGzip(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Set("Content-Encoding", "gzip")
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte{0x1f, 0x8b})
	return true
}

func header(name, value string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set(name, value)
		return false
	}
}

func TestHostileServers(t *testing.T) {
	for _, tt := range []struct {
		name   string
		path   string
		answer func(http.ResponseWriter, *http.Request) bool
		class  error
		want   string
	}{
		{"an index without end", "index.yaml", endless, ErrPermanent, "larger than 1 MiB"},
		{"an archive without end", "shop-1.0.0.tgz", endless, ErrPermanent, "larger than 1 MiB"},
		{"an index that is small only on its way", "index.yaml", bomb, ErrPermanent, "larger than 1 MiB"},
		{"an index that says it is compressed", "index.yaml", header("Content-Encoding", "gzip"), ErrPermanent, "is not"},
		{"an index compressed otherwise", "index.yaml", header("Content-Encoding", "br"), ErrPermanent, "nobody asked"},
		{"an index that stops coming", "index.yaml", silent, ErrTemporary, "sent nothing for too long"},
		{"an archive that stops coming", "shop-1.0.0.tgz", silent, ErrTemporary, "sent nothing for too long"},
		{"an index shorter than it says", "index.yaml", short, ErrTemporary, "unexpected EOF"},
		{"an archive shorter than it says", "shop-1.0.0.tgz", short, ErrTemporary, "unexpected EOF"},
		{"a compressed index shorter than it says", "index.yaml", shortGzip, ErrTemporary, "unexpected EOF"},
		{"redirects in a circle", "index.yaml", redirectFrom("/charts/index.yaml", "/charts/index.yaml"), ErrPermanent, "more than 10 times"},
		{"a redirect with a password", "index.yaml", redirectFrom("/charts/index.yaml", "http://me:"+secret+"@127.0.0.1/"), ErrPermanent, "user name or password"},
		{"a redirect to a file", "index.yaml", redirectFrom("/charts/index.yaml", "file:///etc/hosts"), ErrPermanent, "does not begin with"},
		{"a header without end", "index.yaml", header("X-Long", strings.Repeat("x", 1<<20)), ErrTemporary, "headers exceeded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			s.shop(t, "1.0.0")
			s.answer = func(w http.ResponseWriter, r *http.Request) bool {
				return strings.HasSuffix(r.URL.Path, tt.path) && tt.answer(w, r)
			}
			f, _ := newFetcher(t)
			f.Limits = Limits{IndexBytes: 1 << 20, ArchiveBytes: 1 << 20}
			if strings.HasSuffix(tt.name, "stops coming") {
				f.Limits.Silence = 200 * time.Millisecond
			}
			_, _, err := get(t.Context(), f, s.source(""), nil)
			fails(t, err, tt.class, tt.want, s.URL+"/charts/")
			if files, err := f.files.room().List(); err != nil || len(files) > 1 {
				t.Errorf("%d files are left, error %v", len(files), err)
			}
		})
	}
	t.Run("a redirect from https to http", func(t *testing.T) {
		s, plain := newTLSSite(t), newSite(t)
		s.answer = redirectFrom("/charts/index.yaml", plain.URL+"/")
		f, _ := newFetcher(t, s)
		_, err := f.Resolve(t.Context(), s.source(""), nil)
		fails(t, err, ErrPermanent, "redirects from https to http")
		if len(plain.asked) > 0 {
			t.Error("the redirect was followed")
		}
	})
	t.Run("an answer that takes longer than the caller waits", func(t *testing.T) {
		s := newSite(t)
		s.answer = silent
		f, _ := newFetcher(t)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := f.Resolve(ctx, s.source(""), nil)
		fails(t, err, context.DeadlineExceeded)
	})
	t.Run("an index that comes compressed as asked", func(t *testing.T) {
		s := newSite(t)
		s.shop(t, "1.0.0")
		s.answer = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.HasSuffix(r.URL.Path, "index.yaml") || r.Header.Get("Accept-Encoding") != "gzip" {
				return false
			}
			w.Header().Set("Content-Encoding", "gzip")
			zipped := gzip.NewWriter(w)
			_, _ = zipped.Write(s.files[r.URL.Path])
			_ = zipped.Close()
			return true
		}
		f, _ := newFetcher(t)
		_, _, err := get(t.Context(), f, s.source(""), nil)
		must(t, err)
	})
}
