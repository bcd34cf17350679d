package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/fairlead/activities/fetch"
)

const secret = "s3cr3t"

func TestCredentials(t *testing.T) {
	password := &fetch.Credentials{Username: "me", Password: secret}
	for _, tt := range []struct {
		name, url string
		creds     *fetch.Credentials
		refused   string
	}{
		{"go over https", "https://charts.example.com/x", password, ""},
		{"go over http within this machine", "http://127.0.0.1:80/x", password, ""},
		{"go to localhost", "http://localhost/x", &fetch.Credentials{Token: secret}, ""},
		{"do not go over http", "http://charts.example.com/x?token=" + secret, password, "over https only"},
		{"do not go over http as a token", "HTTP://10.0.0.1/x", &fetch.Credentials{Token: secret}, "over https only"},
		{"have no line breaks", "https://charts.example.com/x", &fetch.Credentials{Token: secret + "\n"}, "line break"},
		{"that are none go anywhere", "http://charts.example.com/x", nil, ""},
		{"that are empty go anywhere", "http://charts.example.com/x", &fetch.Credentials{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, err := url.Parse(tt.url)
			must(t, err)
			err = tt.creds.Check(u)
			if tt.refused == "" {
				must(t, err)
				return
			}
			if !errors.Is(err, fetch.ErrPermanent) || !strings.Contains(err.Error(), tt.refused) || strings.Contains(err.Error(), secret) {
				t.Errorf("error %v, want one that says %q", err, tt.refused)
			}
		})
	}
	t.Run("are not printed", func(t *testing.T) {
		in := struct{ C fetch.Credentials }{*password}
		for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			for _, of := range []any{password, *password, in} {
				if text := fmt.Sprintf(form, of); strings.Contains(text, secret) {
					t.Errorf("%s of %T is %s", form, of, text)
				}
			}
		}
	})
}

func TestFlights(t *testing.T) {
	t.Run("a panic is an error of all, and lets the next one try", func(t *testing.T) {
		var flights fetch.Flights[string, int]
		begun, blocked := make(chan struct{}), make(chan struct{})
		failed := make(chan error, 2)
		join := func(get func(context.Context) (int, error)) {
			_, err := flights.Join(t.Context(), "key", time.Minute, get)
			failed <- err
		}
		go join(func(context.Context) (int, error) {
			close(begun)
			<-blocked
			panic("broken")
		})
		<-begun
		go join(func(context.Context) (int, error) { return 0, errors.New("of its own") })
		eventually(t, "both wait", func() bool { return flights.Waiting() == 2 })
		close(blocked)
		for range 2 {
			if err := <-failed; !errors.Is(err, fetch.ErrPermanent) || !strings.Contains(err.Error(), "broken") {
				t.Errorf("error %v", err)
			}
		}
		got, err := flights.Join(t.Context(), "key", time.Minute, func(context.Context) (int, error) { return 3, nil })
		if got != 3 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	})
	t.Run("who goes away does not wait", func(t *testing.T) {
		var flights fetch.Flights[string, int]
		ctx, leave := context.WithCancel(t.Context())
		blocked := make(chan struct{})
		_, err := flights.Join(ctx, "key", time.Minute, func(inner context.Context) (int, error) {
			leave()
			<-inner.Done() // it is told that nobody waits any more
			<-blocked      // and takes its time
			return 0, nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		close(blocked)
		flights.Wait()
	})
	t.Run("time is bounded", func(t *testing.T) {
		var flights fetch.Flights[string, int]
		_, err := flights.Join(t.Context(), "key", time.Millisecond, func(inner context.Context) (int, error) {
			<-inner.Done()
			return 0, inner.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

func TestListenerGivesUpOnSilence(t *testing.T) {
	for _, tt := range []struct {
		name string
		sent string
	}{{"before the answer", ""}, {"within it", "begun"}} {
		t.Run(tt.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if tt.sent != "" {
					_, _ = w.Write([]byte(tt.sent))
					_ = http.NewResponseController(w).Flush()
				}
				<-r.Context().Done()
			}))
			defer s.Close()
			client := &http.Client{Transport: fetch.Listener{Transport: s.Client().Transport, Silence: 100 * time.Millisecond}}
			var got strings.Builder
			resp, err := client.Get(s.URL)
			if err == nil {
				err = errors.Join(fetch.Copy(&got, resp.Body, 100), resp.Body.Close())
			}
			if !errors.Is(err, fetch.ErrTemporary) || !strings.Contains(err.Error(), "sent nothing for too long") || got.String() != tt.sent {
				t.Errorf("%q came, error %v", got.String(), err)
			}
		})
	}
}

func TestRoom(t *testing.T) {
	now := time.Now()
	room := fetch.Room{
		Dir: t.TempDir(), Max: 10,
		Now:  func() time.Time { return now },
		Owns: func(name string) bool { return len(name) == 1 },
	}
	put := func(name string) {
		must(t, os.MkdirAll(filepath.Join(room.Dir, name, "deep"), 0o700))
		must(t, os.WriteFile(filepath.Join(room.Dir, name, "deep", "file"), []byte("five."), 0o600))
		must(t, room.Use(name))
		now = now.Add(time.Second)
	}
	names := func() (names []string) {
		entries, err := os.ReadDir(room.Dir)
		must(t, err)
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	makeRoom := func(busy string) {
		t.Helper()
		must(t, room.Make(func(name string) bool { return name == busy }))
	}
	for _, name := range []string{"a", "b", "c", "foreign", fetch.Unfinished + "1"} {
		put(name)
	}
	must(t, room.Use("b")) // now a is older than c, and c than b
	makeRoom("a")
	if diff := cmp.Diff([]string{"a", "foreign", fetch.Unfinished + "1"}, names()); diff != "" {
		t.Errorf("what is busy, written or foreign stays, and the rest goes: %s", diff)
	}
	now = now.Add(2 * time.Hour)
	room.Max = 1000
	makeRoom("")
	if diff := cmp.Diff([]string{"a", "foreign"}, names()); diff != "" {
		t.Errorf("only what is abandoned goes while there is room: %s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in 10 s: %s", what)
		}
	}
}
