// The petstore on Express.
import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import express from 'express'

const { port } = parseArgs({ options: { port: { type: 'string', default: '8080' } } }).values
const statuses = ['available', 'pending', 'sold']
const pets = []

class ApiError extends Error {
  constructor(status, code, message) {
    super(message)
    Object.assign(this, { status, code })
  }
}

const v1 = express.Router()

v1.use((req, res, next) => {
  if (req.get('Authorization') !== `Bearer ${process.env.API_KEY}`) {
    throw new ApiError(401, 'unauthorized', 'Missing or invalid API key')
  }
  next()
})
v1.use(express.json())

v1.get('/pets', (req, res) => {
  const { limit = 20, status } = req.query
  if (!(Number(limit) >= 1 && Number(limit) <= 100)) throw new ApiError(400, 'bad_request', 'limit must be between 1 and 100')
  if (status && !statuses.includes(status)) throw new ApiError(400, 'bad_request', 'Unknown status')
  res.json(pets.filter((pet) => !status || pet.status === status).slice(0, Number(limit)))
})

v1.post('/pets', (req, res) => {
  const { name, categoryId, status } = req.body ?? {}
  if (typeof name !== 'string' || !name) throw new ApiError(400, 'bad_request', 'name is required')
  if (!Number.isInteger(categoryId)) throw new ApiError(400, 'bad_request', 'categoryId must be an integer')
  if (status && !statuses.includes(status)) throw new ApiError(400, 'bad_request', 'Unknown status')
  const pet = { id: pets.length + 1, name, categoryId, status }
  pets.push(pet)
  res.status(201).json(pet)
})

v1.get('/pets/:petId', (req, res) => {
  const pet = pets.find((pet) => pet.id === Number(req.params.petId))
  if (!pet) throw new ApiError(404, 'not_found', 'No pet with that id')
  res.json(pet)
})

v1.post('/messages', (req, res) => {
  const { message } = req.body ?? {}
  if (typeof message !== 'string') throw new ApiError(400, 'bad_request', 'message is required')
  res.status(202).json({ id: randomUUID(), message, status: 'queued', createdAt: new Date().toISOString() })
})

const app = express()
app.use('/v1', v1)
app.use((req, res) => {
  throw new ApiError(404, 'not_found', 'Not found')
})
app.use((err, req, res, next) => {
  const status = err.status ?? 500
  res.status(status).json({ code: err.code ?? err.type ?? 'internal_error', message: err.message, status })
})
app.listen(Number(port), '127.0.0.1')
