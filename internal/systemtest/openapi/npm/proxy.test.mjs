import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { build, folder, here, run, startPrism, startServer } from './tools.mjs'

// A check that ends Prism: its path has an escape that is not UTF-8.
const skipped = 'errors.no-5xx'

// The violations that the suite provokes on purpose: requests that the document
// forbids. The server must refuse them.
const provoked = [
  [/^request Invalid security scheme used/, 'no key, or not a bearer token'],
  [/^request Selected route not found/, 'a path or a method that is not in the document'],
  [/^request\.path\.petid .* must be integer/, 'a petId that is not an integer'],
  [/^request\.query\.limit /, 'a limit that is not an integer from 1 to 100'],
  [/^request\.query\.status /, 'an unknown status'],
  [/^request Body parameter is required/, 'no body'],
  [/^request Supported content types/, 'another Content-Type, or none'],
  [/^request\.body Request body must be object/, 'a body that is not an object'],
  [/^request\.body Request body must have required property/, 'a missing member'],
  [/^request\.body\.(name|categoryId|status|message) .* must (be|match) (string|integer|format|equal to)/, 'a member with a wrong value'],
]

// What Prism reports by mistake: the request or response is as the document says.
const mistaken = [
  [/^request Invalid security scheme used/, 'Prism compares the scheme Bearer with case', (x) => x.status < 300],
  [/^(request|response)\.(path|body|body\.N)\.(petid|categoryId) .* must be [<>]= -?9007199254740991$/,
    'Prism takes int64 for what JavaScript keeps exactly, and the suite goes up to its ends', () => true],
  [/^request\.body Request body must be object/, 'Prism reports a body of JSON in a JSON string, and then decodes it for the server', (x) => x.status === 201],
  [/^(request\.path|response\.header)( |\.deprecation )/,
    'Prism takes /pets/ for /pets/{petId} with an empty petId', (x) => x.what === 'get /pets/'],
]

test('prism, as a proxy, finds no violation while the conformance suite runs through it', async (t) => {
  const dir = await folder(t)
  const suite = await build(dir, 'conformance')
  const server = await startServer(t)
  const prism = await startPrism(t, server.url)
  const keyFile = join(dir, 'key')
  await writeFile(keyFile, server.key)

  // One check after the other. A check may still have several requests open.
  const { code, output } = await run(suite, [
    'run', `-url=${prism.url}`, `-messages-url=${prism.url}`, `-key-file=${keyFile}`,
    '-seed=1', '-parallel=1', '-timeout=1m', `-skip=${skipped}`, `-known=${join(here, 'proxy-known.txt')}`,
  ])
  t.diagnostic(output.match(/^partial: \d+ of \d+ checks, .*$/m)?.[0] ?? 'the suite did not come to its end')
  assert.equal(code, 0, output)
  assert.ok(prism.running(), prism.output())

  const seen = new Map()
  const exchanges = parseLog(prism.output())
  for (const [i, x] of exchanges.entries()) {
    for (const violation of x.violations) {
      const reasonIn = (x) =>
        (x.status >= 400 && provoked.find(([form]) => form.test(violation))) ||
        mistaken.find(([form, , when]) => form.test(violation) && when(x))
      // Prism's log does not say to which of several open requests a violation
      // belongs: it may be one of those before.
      const open = exchanges.slice(Math.max(0, i - 7), i + 1).reverse()
      const reason = open.map(reasonIn).find(Boolean)
      assert.ok(reason, `${x.what}, response ${x.status}: ${violation}`)
      seen.set(reason, (seen.get(reason) ?? 0) + 1)
    }
  }
  t.diagnostic(`${exchanges.length} exchanges, with a violation: ${exchanges.filter((x) => x.violations.length).length}`)
  for (const reason of [...provoked, ...mistaken]) {
    assert.ok(seen.has(reason), `never seen: ${reason[1]}`)
    t.diagnostic(`${provoked.includes(reason) ? 'provoked' : 'mistaken'}: ${seen.get(reason)} times ${reason[1]}`)
  }
})

// parseLog returns the exchanges in Prism's log: the request, the server's
// status, and what Prism reports about them.
function parseLog(log) {
  const exchanges = []
  for (const line of log.split('\n')) {
    const request = line.match(/\[HTTP SERVER\] (\S+ \S*) .*Request received/)
    if (request) exchanges.push({ what: request[1], status: 0, violations: [] })
    const last = exchanges.at(-1)
    const response = line.match(/upstream call to (.*) has returned (\d+)/)
    if (response) {
      const [, path, status] = response
      const x = exchanges.slice(-64).find((x) => !x.status && x.what.endsWith(` ${path}`)) ?? last
      x.status = Number(status)
    }
    const violation = line.match(/Violation: (.*)/)
    if (violation) last.violations.push(violation[1].trim().replace(/\.body\.\d+\./, '.body.N.'))
  }
  assert.ok(exchanges.length > 500, `${exchanges.length} exchanges`)
  return exchanges
}
