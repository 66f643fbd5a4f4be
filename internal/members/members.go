// Package members fills every field of a pet or a message by reflection, so that a
// test finds the layer that loses one.
package members

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"example.com/animalstore/petstore"
)

// Filled returns a T with a valid value other than zero in every field. It panics for
// a field whose type it does not know.
func Filled[T any]() (v T) {
	fill(reflect.ValueOf(&v).Elem(), "")
	return v
}

func fill(v reflect.Value, name string) {
	switch v.Interface().(type) {
	case petstore.Status:
		v.SetString(string(petstore.StatusSold))
		return
	case petstore.MessageStatus:
		v.SetString(string(petstore.MessageQueued))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1)
	case reflect.String:
		v.SetString("filled " + name)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case reflect.Struct:
		for field, value := range v.Fields() {
			fill(value, field.Name)
		}
	default:
		panic(fmt.Sprintf("members: no value for the field %s of type %v", name, v.Type()))
	}
}

// Without returns, by the JSON name of each field, v with zero in this field. The fields
// of embedded structs are fields of v.
func Without[T any](v T) map[string]T {
	others := map[string]T{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if f.Anonymous {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		other := v
		reflect.ValueOf(&other).Elem().FieldByIndex(f.Index).SetZero()
		others[name] = other
	}
	return others
}
