// The job of every client: it adds pets, lists all, gets each one that it added,
// and submits messages. It goes on after an error, and prints what it believes
// that it has done.
export async function run({ create, list, get, submit }) {
  const attempt = (what) => what().catch(() => undefined)
  const pets = []
  for (let i = 0; i < 30; i++) {
    const pet = await attempt(() => create({ name: `pet ${i}`, categoryId: i }))
    if (pet) pets.push(pet)
  }
  const listed = (await attempt(list)) ?? []
  let got = 0
  for (const pet of pets) {
    if ((await attempt(() => get(pet.id)))?.name === pet.name) got++
  }
  let messages = 0
  for (let i = 0; i < 3; i++) {
    if (await attempt(() => submit(`message ${i}`))) messages++
  }
  const names = (pets) => pets.map((pet) => pet.name)
  console.log(JSON.stringify({ added: names(pets), listed: names(listed), got, messages }))
}
