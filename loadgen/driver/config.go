package driver

// Config is what a driver needs to connect.
type Config struct {
	URI      string
	Username string
	Password string
	TLS      TLS
	Sentinel *Sentinel // who knows the master; else nil
	// Options are the driver's own; it refuses those it does not know.
	Options   map[string]any
	Namespace string // database, keyspace, set or key prefix: all that is touched
	Writer    string // the run's id, stored with every record
	// Reuse says that Load will not be called: Open refuses a namespace that
	// is not ours already.
	Reuse   bool
	Streams []StreamConfig
	// LaneCap is the wanted limit in flight per lane; 0 leaves it to the driver.
	LaneCap int
}

// TLS says how to encrypt; the zero value is plain text.
type TLS struct {
	Enabled            bool   `json:"enabled"`
	CAFile             string `json:"ca_file"`
	CertFile           string `json:"cert_file"`
	KeyFile            string `json:"key_file"`
	KeyPassphrase      string `json:"key_passphrase"` // if the key is encrypted
	ServerName         string `json:"server_name"`
	InsecureSkipVerify bool   `json:"insecure_skip_verify"`
}

// Sentinel says who knows which server is the master.
type Sentinel struct {
	Master    string   `json:"master"` // the name by which sentinels know it
	Addresses []string `json:"addresses"`
	Username  string   `json:"username"`
	Password  string   `json:"password"`
}

// StreamConfig is what a driver needs to know of one stream.
type StreamConfig struct {
	Name      string
	DeadlineS float64
	// Retries is "none", "once" or "driver-default". Only with the last one may
	// the driver retry by itself.
	Retries  string
	Verified bool
}

// The values of StreamConfig.Retries.
const (
	RetriesNone          = "none"
	RetriesOnce          = "once"
	RetriesDriverDefault = "driver-default"
)
