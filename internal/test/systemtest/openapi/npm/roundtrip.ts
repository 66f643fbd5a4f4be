// Uses every operation through openapi-fetch, with the types that
// openapi-typescript generates from the document, and prints the responses. The
// compiler must refuse what the document does not allow.
import createClient from 'openapi-fetch'
import type { components, paths } from './petstore.js'

const baseUrl = process.env.PETSTORE_URL
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${process.env.PETSTORE_KEY}` } })
const log: unknown[] = []

const bella: components['schemas']['NewPet'] = { name: 'Bella', categoryId: 1, status: 'available' }
for (let i = 0; i < 2; i++) {
  const { data, response } = await client.POST('/pets', { params: { header: { 'Idempotency-Key': 'first' } }, body: bella })
  log.push(response.status, data, response.headers.get('Location'))
}
await client.POST('/pets', { body: { name: 'Tom', categoryId: 2 } })

const first = await client.GET('/pets', { params: { query: { limit: 1 } } })
const next = new URL(first.response.headers.get('Link')!.match(/<(.*)>; rel="next"/)![1]!, first.response.url)
const second = await client.GET('/pets', { params: { query: { limit: 1, cursor: next.searchParams.get('cursor')! } } })
log.push(first.data, second.data, second.response.headers.get('Link'))
const sold = await client.GET('/pets', { params: { query: { status: 'sold' } } })
log.push(sold.data)

const pet = await client.GET('/pets/{petId}', { params: { path: { petId: 1 } } })
log.push(pet.data?.status, pet.response.headers.get('Sunset'))
const missing = await client.GET('/pets/{petId}', { params: { path: { petId: 9 } } })
log.push(missing.response.status, missing.error)

const message = await client.POST('/messages', { body: { message: 'Hello!' } })
log.push(message.response.status, message.data?.id, message.data?.message, message.data?.status)

const nobody = await createClient<paths>({ baseUrl }).GET('/pets')
const code: components['schemas']['ErrorCode'] = nobody.error!.code
log.push(code)

// @ts-expect-error: there is no such status
const wrong = await client.POST('/pets', { body: { name: 'Luna', categoryId: 3, status: 'gone' } })
log.push(wrong.error)
// @ts-expect-error: a category is needed
await client.POST('/pets', { body: { name: 'Luna' } })

console.log(JSON.stringify(log))
