import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { document, folder, run } from './tools.mjs'

const linters = {
  'redocly, recommended rules': (file) => run('redocly', ['lint', '--config=redocly.yaml', file]),
  'spectral, OpenAPI rules': (file) => run('spectral', ['lint', '--ruleset=spectral.yaml', '--fail-severity=hint', file]),
}

for (const [name, lint] of Object.entries(linters)) {
  test(`${name}: the description is clean`, async (t) => {
    const { code, output } = await lint(document)
    t.diagnostic(output.trim().split('\n').at(-1))
    assert.equal(code, 0, output)
  })

  test(`${name}: a stability marker is experimental or beta`, async (t) => {
    const dir = await folder(t)
    const text = await readFile(document, 'utf8')
    for (const [marker, want] of [['beta', 0], ['alpha', 1]]) {
      const marked = text
        .replace('"operationId": "listPets",', `$& "x-stability": "${marker}",`)
        .replace('"operationId": "createPet",', '$& "x-stability": "experimental",')
      assert.equal(marked.match(/"x-stability": "/g).length, 2)
      const file = join(dir, `${marker}.json`)
      await writeFile(file, marked)
      const { code, output } = await lint(file)
      assert.equal(code, want, output)
      if (want !== 0) assert.match(output, /x-stability must be experimental or beta/)
    }
  })
}
