// The petstore on Fastify.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import Fastify from 'fastify'

const { port } = parseArgs({ options: { port: { type: 'string', default: '8080' } } }).values
const fastify = Fastify({ logger: true })
const pets = []

const status = { type: 'string', enum: ['available', 'pending', 'sold'] }
const newPet = {
  type: 'object',
  required: ['name', 'categoryId'],
  properties: { name: { type: 'string' }, categoryId: { type: 'integer' }, status },
}
const pet = {
  type: 'object',
  properties: { id: { type: 'integer' }, ...newPet.properties },
}
const newMessage = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
}

fastify.setErrorHandler((err, request, reply) => {
  const status = err.statusCode ?? 500
  reply.code(status).send({ code: err.code ?? 'error', message: err.message, status })
})
fastify.setNotFoundHandler((request, reply) => {
  reply.code(404).send({ code: 'not_found', message: 'Not found', status: 404 })
})

fastify.register(async (v1) => {
  v1.addHook('onRequest', async (request, reply) => {
    if (request.headers.authorization !== `Bearer ${process.env.API_KEY}`) {
      return reply.code(401).send({ code: 'unauthorized', message: 'Missing or invalid API key', status: 401 })
    }
  })

  const limit = { type: 'integer', minimum: 1, maximum: 100, default: 20 }
  const listPets = { querystring: { type: 'object', properties: { limit, status } }, response: { 200: { type: 'array', items: pet } } }
  v1.get('/pets', { schema: listPets }, async ({ query }) =>
    pets.filter((pet) => !query.status || pet.status === query.status).slice(0, query.limit))

  v1.post('/pets', { schema: { body: newPet, response: { 201: pet } } }, async ({ body }, reply) => {
    const { name, categoryId, status } = body
    const pet = { id: pets.length + 1, name, categoryId, status }
    pets.push(pet)
    return reply.code(201).send(pet)
  })

  const params = { type: 'object', properties: { petId: { type: 'integer' } } }
  v1.get('/pets/:petId', { schema: { params, response: { 200: pet } } }, async (request, reply) => {
    const pet = pets.find((pet) => pet.id === request.params.petId)
    return pet ?? reply.code(404).send({ code: 'not_found', message: 'No pet with that id', status: 404 })
  })

  v1.post('/messages', { schema: { body: newMessage } }, async ({ body }, reply) =>
    reply.code(202).send({ id: randomUUID(), message: body.message, status: 'queued', createdAt: new Date().toISOString() }))
}, { prefix: '/v1' })

await fastify.listen({ port: Number(port) })
