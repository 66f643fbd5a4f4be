// Package systemtest holds tests of the whole that need more modules than the
// root module has, such as routers that an embedder may use. It is a module of
// its own, so that nobody who imports the petstore is given them.
package systemtest
