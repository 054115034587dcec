package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
)

// Page is what Prometheus gets of a load: its figures and the process's own,
// with the same labels on every metric.
type Page struct{ registry *prometheus.Registry }

// NewPage returns the page of one load.
func NewPage(labels map[string]string, exporter *Exporter) *Page {
	registry := prometheus.NewRegistry()
	prometheus.WrapRegistererWith(labels, registry).MustRegister(exporter,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Page{registry: registry}
}

// Text returns the figures of now in Prometheus's text format.
func (p *Page) Text() (string, error) {
	families, err := p.registry.Gather()
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&text, family); err != nil {
			return "", err
		}
	}
	return text.String(), nil
}
