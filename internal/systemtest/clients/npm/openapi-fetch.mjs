// A careful client with openapi-fetch: it makes a key for each creation, waits as long as
// it is asked to, and takes from a Link only the cursor. It never uses an ID, because
// JSON.parse rounds large ones.
import { randomUUID } from 'node:crypto'
import createClient from 'openapi-fetch'
import { run } from './job.mjs'

const client = createClient({
  baseUrl: process.env.PETSTORE_URL,
  headers: { Authorization: `Bearer ${process.env.PETSTORE_KEY}` },
})

// send calls the server until it succeeds, at most five times.
async function send(method, path, options) {
  if (method === 'POST') options.headers = { 'Idempotency-Key': randomUUID() }
  for (let left = 4; ; left--) {
    const { data, error, response } = await client[method](path, options).catch((error) => ({ error }))
    if (data) return { data, response }
    if (left === 0 || (response && response.status < 429)) throw new Error(error.message ?? error)
    const after = response?.headers.get('Retry-After') ?? '0'
    const wait = /^\d+$/.test(after) ? after * 1000 : Date.parse(after) - Date.now()
    await new Promise((resolve) => setTimeout(resolve, Math.max(20, wait)))
  }
}

async function list() {
  for (let cursor; ; ) {
    const { response } = await send('GET', '/pets', { params: { query: { limit: 10, cursor } } })
    cursor = response.headers.get('Link')?.match(/[?&]cursor=([^&>]+)/)?.[1]
    if (!cursor) return
  }
}

await run({
  list,
  create: (body) => send('POST', '/pets', { body }),
  submit: (message) => send('POST', '/messages', { body: { message } }),
})
