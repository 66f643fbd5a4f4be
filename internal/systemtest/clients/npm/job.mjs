// The job of every client: it adds pets, lists all, gets the first ones if it can, and
// submits messages. It goes on after an error.
export async function run({ create, list, get, submit }) {
  const attempt = (what) => what().catch(() => undefined)
  const pets = []
  for (let i = 0; i < 30; i++) {
    const pet = await attempt(() => create({ name: `pet ${i}`, categoryId: i }))
    if (pet) pets.push(pet)
  }
  await attempt(list)
  for (const pet of get ? pets : []) await attempt(() => get(pet.id))
  for (let i = 0; i < 3; i++) await attempt(() => submit(`message ${i}`))
}
