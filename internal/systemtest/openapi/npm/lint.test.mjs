import assert from 'node:assert/strict'
import { test } from 'node:test'
import { document, run } from './tools.mjs'

const linters = {
  'redocly, recommended rules': (file) => run('redocly', ['lint', '--config=redocly.yaml', file]),
  'spectral, OpenAPI rules': (file) => run('spectral', ['lint', '--ruleset=spectral.yaml', '--fail-severity=hint', file]),
}

for (const [name, lint] of Object.entries(linters)) {
  test(`${name}: the document is clean`, async (t) => {
    const { code, output } = await lint(document)
    t.diagnostic(output.trim().split('\n').at(-1))
    assert.equal(code, 0, output)
  })
}
