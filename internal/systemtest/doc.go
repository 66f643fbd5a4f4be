// Package systemtest holds tests of the whole that need more modules than the
// root module has, such as routers that an embedder may use. It is a module of
// its own, so that those who import the petstore do not depend on them.
package systemtest
