// A client for a stream on PostgreSQL, by database/sql and pgx: the protocol of docs/client.md.
//
// The options are those of sql.DB: max_open, max_idle (numbers), max_lifetime_s, max_idle_time_s.
package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/youmark/pkcs8"
)

const (
	table   = "brownout_client"
	columns = "(key text PRIMARY KEY, writer text, sequence bigint, value text)"
	insert  = "INSERT INTO " + table + " VALUES ($1, $2, $3, $4) ON CONFLICT "
	set     = "SET writer = $2, sequence = $3, value = $4"
	read    = "SELECT value FROM " + table + " WHERE key = $1"
	always  = insert + "(key) DO UPDATE " + set
	missing = insert + "DO NOTHING"
	update  = "UPDATE " + table + " " + set + " WHERE key = $1 AND writer = $2 AND sequence BETWEEN $5 AND $6"
)

// causes say why the server did not do what was asked, by its SQLSTATE.
var causes = map[string]string{
	"25006": "not-primary",
	"40001": "key-busy",
	"40P01": "key-busy",
	"53300": "overloaded",
	"57014": "server-timeout",
	"57P01": "no-node",
	"57P03": "no-node",
}

type request struct {
	Do, Key, Writer, Value string
	ID                     uint64
	Sequence               int64
	DeadlineMS             int64 `json:"deadline_ms"`
	Expect                 *struct {
		Missing     bool
		First, Last int64
	}
	Connection struct {
		URI, Username, Password, Database string
		TLS                               encryption
	}
	Options options
}

type options struct {
	MaxOpen      int     `json:"max_open"`
	MaxIdle      int     `json:"max_idle"`
	MaxLifetimeS float64 `json:"max_lifetime_s"`
	MaxIdleTimeS float64 `json:"max_idle_time_s"`
}

// encryption names files in PEM form.
type encryption struct {
	Enabled       bool
	CAFile        string `json:"ca_file"`
	CertFile      string `json:"cert_file"`
	KeyFile       string `json:"key_file"`
	KeyPassphrase string `json:"key_passphrase"`
	Insecure      bool   `json:"insecure_skip_verify"`
}

type answer map[string]any

// config returns what the connections are encrypted with, or nil.
func (e encryption) config() (*tls.Config, error) {
	if !e.Enabled {
		return nil, nil
	}
	config := &tls.Config{InsecureSkipVerify: e.Insecure} //nolint:gosec // the user's own choice
	if e.CAFile != "" {
		text, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("tls.ca_file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca_file: %s holds no certificate", e.CAFile)
		}
	}
	if e.CertFile == "" {
		return config, nil
	}
	certificate, err1 := os.ReadFile(e.CertFile)
	key, err2 := os.ReadFile(cmp.Or(e.KeyFile, e.CertFile)) // one file may hold both
	pair, err := tls.Certificate{}, errors.Join(err1, err2)
	if err == nil && e.KeyPassphrase != "" {
		key, err = unlocked(key, e.KeyPassphrase)
	}
	if err == nil {
		pair, err = tls.X509KeyPair(certificate, key)
	}
	if err != nil {
		return nil, fmt.Errorf("tls.cert_file and tls.key_file: %w", err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// unlocked returns the encrypted key of a PEM text, decrypted.
func unlocked(text []byte, passphrase string) ([]byte, error) {
	block, rest := pem.Decode(text)
	for block != nil && block.Type != "ENCRYPTED PRIVATE KEY" {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, errors.New("found no key that is encrypted as PKCS #8, which the passphrase is for")
	}
	key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(passphrase))
	if err != nil {
		return nil, errors.New("the passphrase does not open the key")
	}
	plain, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: plain}), err
}

func open(r request) (*sql.DB, error) {
	at, err := url.Parse("postgresql://" + strings.SplitN(r.Connection.URI, "://", 2)[1])
	if err != nil {
		return nil, err
	}
	where := url.URL{
		Scheme: "postgresql", Host: at.Host, Path: "/" + cmp.Or(r.Connection.Database, "postgres"),
		User: url.UserPassword(r.Connection.Username, r.Connection.Password),
	}
	where.RawQuery = "sslmode=disable"  // the certificates are added below
	if strings.Contains(at.Host, ",") { // one address is to lead to the primary
		where.RawQuery += "&target_session_attrs=read-write"
	}
	config, err := pgx.ParseConfig(where.String())
	if err != nil {
		return nil, err
	}
	encrypted, err := r.Connection.TLS.config()
	if err != nil {
		return nil, err
	}
	if encrypted != nil {
		config.TLSConfig = named(encrypted, config.Host)
		for _, other := range config.Fallbacks {
			other.TLSConfig = named(encrypted, other.Host)
		}
	}
	db := stdlib.OpenDB(*config)
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	db.SetMaxOpenConns(r.Options.MaxOpen)
	if r.Options.MaxIdle > 0 {
		db.SetMaxIdleConns(r.Options.MaxIdle)
	}
	db.SetConnMaxLifetime(seconds(r.Options.MaxLifetimeS))
	db.SetConnMaxIdleTime(seconds(r.Options.MaxIdleTimeS))
	_, err = db.Exec("CREATE TABLE IF NOT EXISTS " + table + " " + columns)
	return db, err
}

func named(shared *tls.Config, host string) *tls.Config {
	own := shared.Clone()
	own.ServerName = host
	return own
}

// work does one operation; sent says whether anything of it may have reached the server.
func work(ctx context.Context, db *sql.DB, r request) (end string, value any, sent bool, err error) {
	connection, err := db.Conn(ctx)
	if err != nil {
		return "", nil, false, err
	}
	defer connection.Close()
	if r.Do == "write" {
		statement, values := always, []any{r.Key, r.Writer, r.Sequence, r.Value}
		switch {
		case r.Expect != nil && r.Expect.Missing:
			statement = missing
		case r.Expect != nil:
			statement, values = update, append(values, r.Expect.First, r.Expect.Last)
		}
		done, err := connection.ExecContext(ctx, statement, values...)
		if err != nil {
			return "", nil, true, err
		}
		if n, _ := done.RowsAffected(); n > 0 {
			return "ok", nil, true, nil
		}
	}
	var stored string
	err = connection.QueryRowContext(ctx, read, r.Key).Scan(&stored)
	if err == nil {
		value = stored
	} else if !errors.Is(err, sql.ErrNoRows) {
		return "", nil, true, err
	}
	if r.Do == "read" {
		return "ok", value, true, nil
	}
	return "refused", value, true, nil
}

func perform(db *sql.DB, r request) answer {
	early := time.Duration(r.DeadlineMS) * time.Millisecond * 98 / 100 // an answer takes a moment
	ctx, cancel := context.WithTimeout(context.Background(), early)
	defer cancel()
	end, value, sent, err := work(ctx, db, r)
	if err == nil {
		return answer{"id": r.ID, "end": end, "value": value}
	}
	var refused *pgconn.PgError
	var network net.Error
	code, known := fmt.Sprintf("%T", err), false
	if errors.As(err, &refused) {
		code = refused.Code
		known = !strings.HasPrefix(code, "57") && !strings.HasPrefix(code, "08") && code != "40003"
	}
	failed := answer{"id": r.ID, "end": "failed", "code": code}
	if sent && r.Do == "write" && !known {
		failed["end"] = "in_doubt"
	}
	switch {
	case refused != nil:
		failed["cause"] = causes[code]
	case !sent && errors.Is(err, context.DeadlineExceeded):
		failed["cause"] = "pool-exhausted"
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout():
		failed["cause"] = "client-timeout-total"
	case errors.Is(err, syscall.ECONNREFUSED):
		failed["cause"] = "connect-refused"
	case sent || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		failed["cause"] = "connection-reset"
	}
	return failed
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	var db *sql.DB
	var one sync.Mutex
	say := func(a answer) {
		one.Lock()
		defer one.Unlock()
		_ = out.Encode(a)
	}
	for {
		line, err := lines.ReadBytes('\n')
		var r request
		if err != nil || json.Unmarshal(line, &r) != nil || r.Do == "close" {
			return
		}
		if r.Do != "open" {
			go func() { say(perform(db, r)) }()
			continue
		}
		if db, err = open(r); err != nil {
			say(answer{"error": err.Error()})
			return
		}
		say(answer{"opened": "database/sql with pgx", "settings": r.Options})
	}
}
