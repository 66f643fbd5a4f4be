// Uses every operation through openapi-fetch, with the types that
// openapi-typescript generates from the document, and prints the responses. The
// compiler must refuse what the document does not allow.
import createClient from 'openapi-fetch'
import type { components, paths } from './petstore.js'

const headers = { Authorization: `Bearer ${process.env.ROUNDTRIP_KEY}` }
const client = createClient<paths>({ baseUrl: process.env.ROUNDTRIP_URL, headers })
const log: unknown[] = []

const bella: components['schemas']['NewPet'] = { name: 'Bella', categoryId: 1, status: 'available' }
for (let i = 0; i < 2; i++) {
  const { data, response } = await client.POST('/pets', {
    params: { header: { 'Idempotency-Key': '"first"' } },
    body: bella,
  })
  log.push(response.status, data, response.headers.get('Location'))
}
await client.POST('/pets', { body: { name: 'Tom', categoryId: 2 } })

const first = await client.GET('/pets', { params: { query: { limit: 1 } } })
const next = new URL(first.response.headers.get('Link')!.match(/<(.*)>; rel="next"/)![1]!, first.response.url)
const second = await client.GET('/pets', { params: { query: { limit: 1, cursor: next.searchParams.get('cursor')! } } })
const names: string[] = [...first.data!, ...second.data!].map((pet) => pet.name)
log.push(names, second.response.headers.get('Link'))
const sold = await client.GET('/pets', { params: { query: { status: 'sold' } } })
log.push(sold.data)

const pet = await client.GET('/pets/{petId}', { params: { path: { petId: 1 } } })
log.push(pet.data?.status, pet.response.headers.get('Sunset'))
const missing = await client.GET('/pets/{petId}', { params: { path: { petId: 9 } } })
log.push(missing.data, missing.error)

const message = await client.POST('/messages', { body: { message: 'Hello!' } })
log.push(message.response.status, message.data?.id, message.data?.status)

const nobody = await createClient<paths>({ baseUrl: process.env.ROUNDTRIP_URL }).GET('/pets')
const code: components['schemas']['ErrorCode'] = nobody.error!.code
log.push(code)

// @ts-expect-error: there is no such status
const status: components['schemas']['PetStatus'] = 'gone'
// @ts-expect-error: a category is needed
const wrong = await client.POST('/pets', { body: { name: 'Luna' } })
log.push(status, wrong.error)

console.log(JSON.stringify(log))
