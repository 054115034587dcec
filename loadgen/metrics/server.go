package metrics

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Server answers /metrics.
type Server struct {
	listener net.Listener
	http     http.Server
}

// Serve answers on address, with the labels on every metric.
func Serve(address string, labels map[string]string, exporter *Exporter) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("cannot serve metrics on %s: %w", address, err)
	}
	registry := prometheus.NewRegistry()
	labelled := prometheus.WrapRegistererWith(labels, registry)
	labelled.MustRegister(exporter, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	s := &Server{listener: listener}
	s.http.Handler, s.http.ReadHeaderTimeout = mux, 5*time.Second
	go func() { _ = s.http.Serve(listener) }() // ends with Close
	return s, nil
}

// Address is where it answers.
func (s *Server) Address() string { return s.listener.Addr().String() }

// Close stops answering.
func (s *Server) Close() { _ = s.http.Close() }
