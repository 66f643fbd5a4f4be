// The petstore on Node's own http module.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { parseArgs } from 'node:util'

const { port } = parseArgs({ options: { port: { type: 'string', default: '8080' } } }).values
const statuses = ['available', 'pending', 'sold']
const pets = new Map()

class ApiError extends Error {
  constructor(status, code, message) {
    super(message)
    Object.assign(this, { status, code })
  }
}

async function readJSON(req) {
  let text = ''
  for await (const chunk of req) text += chunk
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError(400, 'invalid_json', 'the body is not valid JSON')
  }
}

async function route(req) {
  const url = new URL(req.url, 'http://localhost')
  if (req.headers.authorization !== `Bearer ${process.env.API_KEY}`) {
    throw new ApiError(401, 'unauthorized', 'missing or invalid API key')
  }
  if (req.method === 'GET' && url.pathname === '/v1/pets') {
    const limit = Number(url.searchParams.get('limit') ?? 20)
    const status = url.searchParams.get('status')
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) throw new ApiError(400, 'invalid', 'limit must be between 1 and 100')
    if (status && !statuses.includes(status)) throw new ApiError(400, 'invalid', 'unknown status')
    return [200, [...pets.values()].filter((pet) => !status || pet.status === status).slice(0, limit)]
  }
  if (req.method === 'POST' && url.pathname === '/v1/pets') {
    const { name, categoryId, status } = await readJSON(req)
    if (typeof name !== 'string' || !name) throw new ApiError(400, 'invalid', 'name is required')
    if (!Number.isInteger(categoryId)) throw new ApiError(400, 'invalid', 'categoryId must be an integer')
    if (status !== undefined && !statuses.includes(status)) throw new ApiError(400, 'invalid', 'unknown status')
    const pet = { id: pets.size + 1, name, categoryId, status }
    pets.set(pet.id, pet)
    return [201, pet]
  }
  const match = url.pathname.match(/^\/v1\/pets\/(\d+)$/)
  if (req.method === 'GET' && match) {
    const pet = pets.get(Number(match[1]))
    if (!pet) throw new ApiError(404, 'not_found', 'no such pet')
    return [200, pet]
  }
  if (req.method === 'POST' && url.pathname === '/v1/messages') {
    if (!req.headers['content-type']) throw new ApiError(400, 'invalid', 'Content-Type is required')
    const { message } = await readJSON(req)
    if (typeof message !== 'string') throw new ApiError(400, 'invalid', 'message is required')
    return [202, { id: randomUUID(), message, status: 'queued', createdAt: new Date().toISOString() }]
  }
  throw new ApiError(404, 'not_found', 'not found')
}

createServer(async (req, res) => {
  const [status, body] = await route(req).catch((err) => {
    const { status = 500, code = 'internal', message } = err
    return [status, { code, message, status }]
  })
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}).listen(Number(port), '127.0.0.1')
