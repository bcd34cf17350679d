package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is made anew.
	renewBefore = 30 * 24 * time.Hour
	// clockSlack lets a certificate be used by a clock that is a little behind.
	clockSlack = time.Hour
)

// leaf is a certificate that the local cluster needs. Its files are
// <name>.crt and <name>.key.
type leaf struct {
	name         string
	commonName   string
	organization []string
	usage        []x509.ExtKeyUsage
	dnsNames     []string
	addresses    []net.IP
}

// authority signs certificates.
type authority struct {
	dir  string
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
}

// openAuthority reads the certificate authority of dir, or makes one when there
// is none or its end is near.
func openAuthority(dir, name string, now time.Time) (*authority, error) {
	a := &authority{dir: dir, name: name, now: now}
	cert, key, err := readPair(dir, name)
	switch {
	case err == nil && now.Before(cert.NotAfter.Add(-leafLife)):
		a.cert, a.key = cert, key
		return a, nil
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "fairlead-" + name},
		NotBefore:             now.Add(-clockSlack),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	if a.cert, a.key, err = issue(dir, name, template, nil, nil); err != nil {
		return nil, err
	}
	return a, nil
}

// ensure keeps the certificate of l when it is still good, and issues it anew
// when it is missing, ends soon, has another signer or lacks an address.
func (a *authority) ensure(l leaf) error {
	cert, _, err := readPair(a.dir, l.name)
	if err == nil && a.good(cert, l) {
		return nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: l.commonName, Organization: l.organization},
		NotBefore:   a.now.Add(-clockSlack),
		NotAfter:    a.now.Add(leafLife),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: l.usage,
		DNSNames:    l.dnsNames,
		IPAddresses: l.addresses,
	}
	_, _, err = issue(a.dir, l.name, template, a.cert, a.key)
	return err
}

func (a *authority) good(cert *x509.Certificate, l leaf) bool {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	_, err := cert.Verify(x509.VerifyOptions{
		Roots:       roots,
		CurrentTime: a.now.Add(renewBefore),
		KeyUsages:   []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil || cert.Subject.CommonName != l.commonName {
		return false
	}
	for _, ip := range l.addresses {
		if cert.VerifyHostname(ip.String()) != nil {
			return false
		}
	}
	return true
}

// issue makes a key and a certificate, self-signed without a parent.
func issue(dir, name string, template, parent *x509.Certificate, signer *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	fail := func(err error) (*x509.Certificate, *ecdsa.PrivateKey, error) {
		return nil, nil, fmt.Errorf("issue certificate %s: %w", name, err)
	}
	key, err := writeKey(keyFile(dir, name))
	if err != nil {
		return fail(err)
	}
	if parent == nil {
		parent, signer = template, key
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return fail(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return fail(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return fail(err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := writeFile(certFile(dir, name), block); err != nil {
		return fail(err)
	}
	return cert, key, nil
}

func writeKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generate key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode key: %w", err)
	}
	return key, writeFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}

// readPair reads a certificate and its key. A pair that a crash left half
// written, or that does not match, is os.ErrNotExist: it is made anew.
func readPair(dir, name string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	certBlock, err := readPEM(certFile(dir, name))
	if err != nil {
		return nil, nil, err
	}
	keyBlock, err := readPEM(keyFile(dir, name))
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(certBlock)
	if err != nil {
		return nil, nil, fmt.Errorf("certificate %s is damaged, remove it: %w", certFile(dir, name), err)
	}
	key, err := x509.ParseECPrivateKey(keyBlock)
	if err != nil {
		return nil, nil, fmt.Errorf("key %s is damaged, remove it: %w", keyFile(dir, name), err)
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return nil, nil, fmt.Errorf("certificate %s and its key do not match: %w", name, os.ErrNotExist)
	}
	return cert, key, nil
}

func readPEM(path string) ([]byte, error) {
	data, err := os.ReadFile(path) // #nosec G304 -- a path of the state directory
	if err != nil {
		return nil, fmt.Errorf("read certificate: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s holds no PEM block, remove it", path)
	}
	return block.Bytes, nil
}

// writeFile writes a private file whole or not at all.
func writeFile(path string, data []byte) error {
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func certFile(dir, name string) string { return filepath.Join(dir, name+".crt") }
func keyFile(dir, name string) string  { return filepath.Join(dir, name+".key") }
