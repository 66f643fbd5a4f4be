import assert from 'node:assert/strict'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { document, folder, here, run, startServer } from './tools.mjs'

test('openapi-typescript and openapi-fetch: a typed client of the reference server', async (t) => {
  // In this folder, so that the program finds openapi-fetch.
  const dir = await folder(t, join(here, '.build-'))
  const types = await run('openapi-typescript', [document, '--output', join(dir, 'petstore.d.ts')])
  assert.equal(types.code, 0, types.output)
  assert.doesNotMatch(types.output, /warn|⚠/i)

  await copyFile(join(here, 'roundtrip.ts'), join(dir, 'roundtrip.ts'))
  const compiled = await run('tsc', [
    '--strict', '--noUncheckedIndexedAccess', '--target', 'es2022', '--module', 'nodenext', join(dir, 'roundtrip.ts'),
  ])
  assert.equal(compiled.code, 0, compiled.output)

  const { url, key } = await startServer(t)
  const used = await run(process.execPath, [join(dir, 'roundtrip.js')], {
    env: { ...process.env, ROUNDTRIP_URL: url, ROUNDTRIP_KEY: key },
  })
  assert.equal(used.code, 0, used.output)
  const bella = { id: 1, name: 'Bella', categoryId: 1, status: 'available' }
  assert.deepEqual(JSON.parse(used.stdout), [
    201, bella, 'pets/1', // and again, with the same Idempotency-Key
    201, bella, 'pets/1',
    ['Bella', 'Tom'], null,
    [],
    'available', 'Thu, 05 Dec 2030 00:00:00 GMT',
    null, { code: 'not_found', message: 'there is no pet with this id', status: 404 },
    202, 'msg_1', 'queued',
    'unauthorized',
    'gone', { code: 'invalid', message: 'categoryId: is missing', status: 400 },
  ])
})
