package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// object is a JSON object whose fields keep their order.
type object struct {
	names  []string
	values map[string]json.RawMessage
}

func parseObject(text []byte) (*object, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, fmt.Errorf("is no JSON object")
	}
	o := &object{values: map[string]json.RawMessage{}}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("is not JSON: %w", err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, fmt.Errorf("is not JSON: %w", err)
		}
		o.set(token.(string), value)
	}
	if _, err := decoder.Token(); err != nil || decoder.More() {
		return nil, fmt.Errorf("is no JSON object")
	}
	return o, nil
}

func (o *object) set(name string, value json.RawMessage) {
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

// put sets a field to a value that can be written as JSON.
func (o *object) put(name string, value any) {
	text, _ := json.Marshal(value) // numbers, texts, and what was read as JSON
	o.set(name, text)
}

// MarshalJSON writes the fields in their order.
func (o *object) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, name := range o.names {
		if i > 0 {
			text = append(text, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, key...), ':'), o.values[name]...)
	}
	return append(text, '}'), nil
}

// has tells whether there is a field, and it is not null.
func (o *object) has(name string) bool {
	value, known := o.values[name]
	return known && string(value) != "null"
}

// count is a whole number of 0 or more.
func (o *object) count(name string) (int64, bool) {
	n, err := strconv.ParseInt(string(o.values[name]), 10, 64)
	return n, err == nil && n >= 0 && n < 1<<62
}

// number is a number that a run can have.
func (o *object) number(name string) (float64, bool) {
	x, err := strconv.ParseFloat(string(o.values[name]), 64)
	return x, err == nil && math.Abs(x) <= 1e9
}

func (o *object) text(name string) string {
	var text string
	if json.Unmarshal(o.values[name], &text) != nil {
		return string(o.values[name])
	}
	return text
}
