// Reads requests with net/http and encoding/json in each way that they offer. One request a line in, what they read a line out.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime"
	"strings"
)

type sent struct {
	Method, Query, Body, Field string
	Type                       *string
}

// request makes a new request, because reading a body consumes it.
func (s sent) request() *http.Request {
	r := httptest.NewRequest(s.Method, "http://receiver/pay", strings.NewReader(s.Body))
	r.URL.RawQuery = s.Query
	if s.Type != nil {
		r.Header.Set("Content-Type", *s.Type)
	}
	return r
}

// typed returns the type of a struct that has the field at these names.
func typed(names []string) reflect.Type {
	inner := reflect.TypeFor[any]()
	if len(names) > 1 {
		inner = typed(names[1:])
	}
	tag := reflect.StructTag(fmt.Sprintf("json:%q", names[0]))
	return reflect.StructOf([]reflect.StructField{{Name: "Field", Type: inner, Tag: tag}})
}

func intoStruct(s sent, names []string) any {
	value := reflect.New(typed(names))
	if json.NewDecoder(s.request().Body).Decode(value.Interface()) != nil {
		return nil
	}
	found := value.Elem()
	for range names {
		found = found.Field(0)
	}
	return found.Interface()
}

func intoMap(s sent, names []string) any {
	var value any
	if json.NewDecoder(s.request().Body).Decode(&value) != nil {
		return nil
	}
	for _, name := range names {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[name]
	}
	return value
}

func main() {
	out := json.NewEncoder(os.Stdout)
	_ = out.Encode(map[string]string{"go": runtime.Version()})
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var s sent
		if err := json.Unmarshal(in.Bytes(), &s); err != nil {
			panic(err)
		}
		place, rest, _ := strings.Cut(s.Field, ".")
		names := strings.Split(rest, ".")
		read := []any{}
		add := func(values ...any) {
			for _, value := range values {
				if value != nil && value != "" {
					read = append(read, value)
				}
			}
		}
		if place == "body" {
			add(intoStruct(s, names), intoMap(s, names))
		}
		if len(names) == 1 {
			if place == "body" {
				add(s.request().PostFormValue(names[0]))
			} else {
				add(s.request().URL.Query().Get(names[0]))
			}
			add(s.request().FormValue(names[0]))
		}
		_ = out.Encode(read)
	}
}
