package rest

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"hitchpost/server/strictjson"
)

// maxBody bounds the body of a request, as a frame of the wires is.
const maxBody = 1 << 20

// decode reads the request's body into a struct of type T, by the names of its members.
// Strict for our clients' sake: a member that we do not know is a mistake that would
// otherwise show as something that was not done.
func decode[T any](c *call) (T, error) {
	var v T
	text, err := c.body()
	if err != nil {
		return v, err
	}
	members, err := strictjson.Object("the body", text)
	if err != nil {
		return v, invalid("%v", err)
	}
	into := reflect.ValueOf(&v).Elem()
	var names []string
	for i := range into.NumField() {
		name, optional := memberOf(into.Type().Field(i))
		names = append(names, name)
		raw, there := members[name]
		delete(members, name)
		switch {
		case !there && !optional:
			return v, invalid("%s is missing", name)
		case !there:
		default:
			if err := fill(into.Field(i), name, raw); err != nil {
				return v, err
			}
		}
	}
	for name := range members {
		return v, invalid("unknown member %.80q; the members are %s", name, strings.Join(names, ", "))
	}
	return v, nil
}

// memberOf is the name of a field in JSON, and whether it may be left out.
func memberOf(f reflect.StructField) (name string, optional bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name, options == "omitempty"
}

func fill(field reflect.Value, name string, raw json.RawMessage) error {
	if string(raw) == "null" {
		return invalid("%s must not be null; leave it out", name)
	}
	err := json.Unmarshal(raw, field.Addr().Interface())
	if err == nil && field.Kind() == reflect.Slice {
		var elements []json.RawMessage
		err = json.Unmarshal(raw, &elements)
		for _, e := range elements {
			if string(e) == "null" { // it would pass for an empty one
				err = strconv.ErrSyntax
			}
		}
	}
	if err != nil {
		return invalid("%s must be %s", name, kindOf(field.Type()))
	}
	return nil
}

// kindOf says in words what a member must be.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array, each element " + kindOf(t.Elem())
	}
	return "a " + t.Kind().String()
}

// body reads the request's body, {} when it has none.
func (c *call) body() ([]byte, error) {
	if media := c.r.Header.Get("Content-Type"); media != "" {
		if base, _, err := mime.ParseMediaType(media); err != nil || base != "application/json" {
			return nil, invalid("the Content-Type is %.80q; it must be application/json", media)
		}
	}
	text, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, refuse(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", maxBody)
	case err != nil:
		return nil, invalid("the body could not be read: %v", err)
	case len(text) == 0:
		return []byte("{}"), nil
	}
	return text, nil
}
