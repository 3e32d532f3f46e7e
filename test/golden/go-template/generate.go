// Command golden fills tables of templates with what Go's text/template makes of them.
//
//	go run . actions.json …   rewrites the tables in place
//	go run .                  reads one case a line from standard input, answers one line each
//
// Numbers of the data are int64 when integral and below 2^63 in size, else float64; a case with
// "numbers": "float64" has them all as float64, as encoding/json alone would.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

type testCase struct {
	Template string          `json:"template"`
	Data     json.RawMessage `json:"data,omitempty"`
	Numbers  string          `json:"numbers,omitempty"`
	Output   *string         `json:"output,omitempty"`
	// Fails says when: "syntax" or "execution".
	Fails string `json:"fails,omitempty"`
	// Says is a part of the error that other implementations have to say as well.
	Says  string `json:"says,omitempty"`
	Error string `json:"error,omitempty"`
}

// table holds cases; Data is what those without data of their own run on.
type table struct {
	Go    string          `json:"go"`
	Data  json.RawMessage `json:"data"`
	Cases []testCase      `json:"cases"`
}

func main() {
	if len(os.Args) == 1 {
		answerLines()
		return
	}
	for _, path := range os.Args[1:] {
		if err := fill(path); err != nil {
			fmt.Fprintln(os.Stderr, path+": "+err.Error())
			os.Exit(1)
		}
	}
}

func fill(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var read table
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	read.Go = runtime.Version()
	for i, one := range read.Cases {
		own := one.Data
		if own == nil {
			one.Data = read.Data
		}
		done := run(one)
		done.Data = own
		if !strings.Contains(done.Error, done.Says) {
			return fmt.Errorf("case %d, %s: error %q (output %v) does not say %q", i, one.Template, done.Error, done.Output != nil, done.Says)
		}
		read.Cases[i] = done
	}
	var written bytes.Buffer
	written.WriteString("{\n  \"go\": " + encode(read.Go) + ",\n  \"data\": " + encode(read.Data) + ",\n  \"cases\": [\n")
	for i, one := range read.Cases {
		written.WriteString("    " + encode(one))
		if i < len(read.Cases)-1 {
			written.WriteString(",")
		}
		written.WriteString("\n")
	}
	written.WriteString("  ]\n}\n")
	return os.WriteFile(path, written.Bytes(), 0o644)
}

func answerLines() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for lines.Scan() {
		var one testCase
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			panic(err)
		}
		done := run(one)
		fmt.Fprintln(out, encode(testCase{Output: done.Output, Fails: done.Fails, Error: done.Error}))
	}
}

func encode(value any) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func run(one testCase) testCase {
	one.Output, one.Error, one.Fails = nil, "", ""
	asFloat := one.Numbers == "float64"
	if len(one.Data) == 0 {
		one.Data = json.RawMessage("null")
	}
	data, err := decode(one.Data, asFloat)
	if err != nil {
		panic(err)
	}
	parsed, err := template.New("").Funcs(functions(asFloat)).Parse(one.Template)
	if err != nil {
		one.Error, one.Fails = err.Error(), "syntax"
		return one
	}
	var out strings.Builder
	if err := parsed.Execute(&out, data); err != nil {
		one.Error, one.Fails = err.Error(), "execution"
		return one
	}
	text := out.String()
	one.Output = &text
	return one
}

func functions(asFloat bool) template.FuncMap {
	return template.FuncMap{
		"json": func(value any) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
		"quote":    func(value any) string { return strconv.Quote(fmt.Sprint(value)) },
		"fromJson": func(text string) (any, error) { return decode([]byte(text), asFloat) },
	}
}

func decode(text []byte, asFloat bool) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("more than one value")
	}
	return numbered(value, asFloat)
}

func numbered(value any, asFloat bool) (any, error) {
	switch typed := value.(type) {
	case json.Number:
		float, err := typed.Float64()
		if err != nil {
			return nil, err
		}
		if !asFloat && float == math.Trunc(float) && math.Abs(float) < 1<<63 {
			return int64(float), nil
		}
		return float, nil
	case map[string]any:
		for key, member := range typed {
			changed, err := numbered(member, asFloat)
			if err != nil {
				return nil, err
			}
			typed[key] = changed
		}
	case []any:
		for i, item := range typed {
			changed, err := numbered(item, asFloat)
			if err != nil {
				return nil, err
			}
			typed[i] = changed
		}
		// no capacity after the last item, because the decoder's spare capacity is not specified
		return slices.Clip(typed), nil
	}
	return value, nil
}
