// A client as one writes it by hand after reading the contract once: after an
// error it tries again, and a list has pages, as lists elsewhere do.
import { run } from './job.mjs'

const headers = { Authorization: `Bearer ${process.env.PETSTORE_KEY}`, 'Content-Type': 'application/json' }

async function call(method, path, body) {
  for (let left = 2; ; left--) {
    try {
      const response = await fetch(process.env.PETSTORE_URL + path, { method, headers, body: JSON.stringify(body) })
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
      return await response.json()
    } catch (error) {
      if (left === 0) throw error
    }
  }
}

async function list() {
  const pets = new Map()
  for (let page = 1; ; page++) {
    const known = pets.size
    for (const pet of await call('GET', `/pets?page=${page}`)) pets.set(pet.id, pet)
    if (pets.size === known) return [...pets.values()]
  }
}

await run({
  list,
  create: (pet) => call('POST', '/pets', pet),
  get: (id) => call('GET', `/pets/${id}`),
  submit: (message) => call('POST', '/messages', { message }),
})
