// Package systemtest tests the whole system with other software, such as the proxies
// that stand before a server. It is a module of its own, so that programs that
// import the petstore do not depend on that software.
package systemtest
