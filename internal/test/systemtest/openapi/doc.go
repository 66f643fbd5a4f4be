// Package openapi tests the OpenAPI document. Its tests hold these promises of
// docs/contract.md, "The contract for tools":
//
//   - TestDocument: a validator accepts the document; each status has an example; there is
//     room for other servers; the server's address is relative
//   - TestAgreement: the handler returns what the document says, and no more
package openapi
