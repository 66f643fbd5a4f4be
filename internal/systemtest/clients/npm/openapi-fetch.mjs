// A client with openapi-fetch. Its author took the cursor from the Link, as there
// is a parameter for it, and saw no reason to send an Idempotency-Key.
import createClient from 'openapi-fetch'
import { run } from './job.mjs'

const client = createClient({
  baseUrl: process.env.PETSTORE_URL,
  headers: { Authorization: `Bearer ${process.env.PETSTORE_KEY}` },
})

// data calls the server until it succeeds, at most three times.
async function data(call) {
  for (let left = 2; ; left--) {
    const { data, error, response } = await call().catch((error) => ({ error }))
    if (data) return { data, response }
    if (left === 0 || (response && response.status < 429)) throw new Error(error.message ?? error)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function list() {
  const pets = []
  for (let cursor; ; ) {
    const page = await data(() => client.GET('/pets', { params: { query: { limit: 10, cursor } } }))
    pets.push(...page.data)
    cursor = page.response.headers.get('Link')?.match(/[?&]cursor=([^&>]+)/)?.[1]
    if (!cursor) return pets
  }
}

await run({
  list,
  create: async (body) => (await data(() => client.POST('/pets', { body }))).data,
  get: async (petId) => (await data(() => client.GET('/pets/{petId}', { params: { path: { petId } } }))).data,
  submit: async (message) => (await data(() => client.POST('/messages', { body: { message } }))).data,
})
