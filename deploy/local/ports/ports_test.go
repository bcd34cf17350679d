package ports_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"example.com/fairlead/deploy/local/ports"
)

func TestTakenAddressNamesItsHolderAndTheFlag(t *testing.T) {
	for _, listen := range []string{"127.0.0.1:0", "0.0.0.0:0", "[::]:0"} {
		t.Run(listen, func(t *testing.T) {
			l, err := net.Listen("tcp", listen)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			address := fmt.Sprintf("127.0.0.1:%d", l.Addr().(*net.TCPAddr).Port)
			err = ports.Check(address, "--temporal-port")
			var taken *ports.TakenError
			if !errors.As(err, &taken) {
				t.Fatalf("check of a taken address gave %v", err)
			}
			for _, want := range []string{address, fmt.Sprintf("process %d (%s", os.Getpid(), os.Args[0][:20]), "--temporal-port"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
}

func TestHolderIsFoundHoweverTheAddressIsWritten(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for _, host := range []string{"127.0.0.1", "localhost", "", "0.0.0.0"} {
		t.Run(host, func(t *testing.T) {
			var taken *ports.TakenError
			err := ports.Check(fmt.Sprintf("%s:%d", host, l.Addr().(*net.TCPAddr).Port), "--listen")
			if !errors.As(err, &taken) || taken.Holder == nil || taken.Holder.PID != os.Getpid() {
				t.Errorf("check gave %v", err)
			}
		})
	}
}

func TestFreeAddressPasses(t *testing.T) {
	free, err := ports.Reserve(1)
	if err != nil {
		t.Fatal(err)
	}
	defer free.Release()
	if err := ports.Check(fmt.Sprintf("127.0.0.1:%d", free.Ports[0]), "--port"); err != nil {
		t.Error(err)
	}
}

func TestAddressOfAnotherMachineIsNoTakenOne(t *testing.T) {
	err := ports.Check("192.0.2.1:80", "--listen")
	var taken *ports.TakenError
	if err == nil || errors.As(err, &taken) || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("check gave %v", err)
	}
}

func TestReservedPortsAreNotHandedOutAgain(t *testing.T) {
	given := map[int]bool{}
	for range 3 {
		r, err := ports.Reserve(3)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Ports {
			if given[p] {
				t.Errorf("port %d was handed out twice", p)
			}
			given[p] = true
		}
		runtime.GC() // a reservation that nobody refers to any more holds as well
		runtime.GC()
	}
}
