import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { folder, here, run, start, startServer } from './tools.mjs'

// The script in the page: it shows the document of each server and executes
// operations with their examples, without filling in anything.
async function tryOut(servers) {
  const until = async (find, tries = Infinity) => {
    for (; tries > 0; tries--) {
      const found = find()
      if (found) return found
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  const all = []
  for (const { url, key } of servers) {
    document.body.innerHTML = '<div id="ui"></div>'
    const calls = []
    let started
    await new Promise((onComplete) => {
      window.ui = SwaggerUIBundle({
        url: `${url}/openapi.json`, dom_id: '#ui', tryItOutEnabled: true, docExpansion: 'full', onComplete,
        requestInterceptor: (request) => ((started = request.url), request),
        responseInterceptor: (response) => (calls.push([response.status, response.url, response.text]), response),
      })
    })
    window.ui.preauthorizeApiKey('bearerAuth', key)
    calls.length = 0
    for (const id of ['createPet', 'createPet', 'submitMessage', 'listPets', 'getPet']) {
      const before = calls.length
      started = ''
      do { // Swagger UI ignores a click while it is still filling in the examples.
        (await until(() => document.querySelector(`[id$="-${id}"] .execute`))).click()
      } while (!(await until(() => started, 100)))
      if (!(await until(() => calls.length > before, 3600))) throw new Error(`no response from ${started}`)
    }
    all.push(calls)
  }
  return all
}

test('swagger-ui: "Try it out" works at every address, and twice', { timeout: 1_800_000 }, async (t) => {
  const dir = await folder(t)
  const cert = [`-tls-cert=${join(dir, 'cert.pem')}`, `-tls-key=${join(dir, 'key.pem')}`]
  const made = await run('openssl', [
    'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-out', join(dir, 'cert.pem'), '-keyout', join(dir, 'key.pem'),
  ])
  assert.equal(made.code, 0, made.output)
  const servers = []
  for (const args of [[], ['-base-path=/api/v3'], ['-base-path=/'], cert]) servers.push(await startServer(t, ...args))

  const page = createServer((request, response) => {
    if (request.url === '/swagger-ui-bundle.js') {
      createReadStream(join(here, 'node_modules/swagger-ui-dist/swagger-ui-bundle.js')).pipe(response)
    } else if (request.method === 'POST') {
      page.emit('calls', request)
    } else {
      response.setHeader('Content-Type', 'text/html')
      response.end(`<!doctype html><meta charset="utf-8"><script src="/swagger-ui-bundle.js"></script><body>
        <script>
          (${tryOut})(${JSON.stringify(servers)}).catch(String).then((calls) =>
            fetch('/calls', { method: 'POST', body: JSON.stringify(calls) }))
        </script>`)
    }
  }).listen(0, '127.0.0.1')
  t.after(() => (page.closeAllConnections(), page.close()))
  await once(page, 'listening')
  const posted = once(page, 'calls')
  // Without web security, since the page is not from the servers.
  await start(t, 'chromium', [
    '--headless', '--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync',
    '--disable-web-security', '--ignore-certificate-errors', '--remote-debugging-port=0', `--user-data-dir=${join(dir, 'profile')}`,
    `http://127.0.0.1:${page.address().port}/`,
  ], /DevTools listening/)
  const [request] = await posted
  const all = JSON.parse(Buffer.concat(await request.toArray()))
  assert.ok(Array.isArray(all), all)

  const bella = (id) => `{"id":${id},"name":"Bella","categoryId":1,"status":"available"}`
  all.forEach((calls, i) => {
    const { url } = servers[i]
    assert.match(calls[2].pop(), /^{"id":"msg_1","message":"Hello, pets!",/)
    assert.deepEqual(calls, [
      [201, `${url}/pets`, bella(1)],
      [201, `${url}/pets`, bella(2)],
      [202, `${url}/messages`],
      [200, `${url}/pets?limit=20`, `[${bella(1)},${bella(2)}]`],
      [200, `${url}/pets/1`, bella(1)],
    ])
  })
})
