// What the tests have in common: where things are, and programs that run
// until the test is over.
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

export const here = dirname(fileURLToPath(import.meta.url))
export const root = join(here, '../../../..')
export const document = join(root, 'petstore/httpapi/openapi.json')

export const description = async () => JSON.parse(await readFile(document, 'utf8'))

// The tools connect only to this machine.
process.env.REDOCLY_TELEMETRY = 'off'
process.env.REDOCLY_SUPPRESS_UPDATE_NOTICE = 'true'

// tool returns the path of a tool's program. Run by npx it would be the child of
// a shell.
const tools = {
  redocly: '@redocly/cli/bin/cli.js',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  prism: '@stoplight/prism-cli/dist/index.js',
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  tsc: 'typescript/bin/tsc',
}
const program = (name) => (tools[name] ? [process.execPath, join(here, 'node_modules', tools[name])] : [name])

// run runs a program until it ends, by default in this folder.
export function run(name, args, options = {}) {
  const [file, ...first] = program(name)
  return new Promise((resolve) => {
    execFile(file, [...first, ...args], { cwd: here, maxBuffer: 64 << 20, ...options }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? 1) : 0, stdout, stderr, output: stripVTControlCharacters(stdout + stderr) })
    })
  })
}

// folder creates a folder that exists until the test is over.
export async function folder(t, prefix = join(tmpdir(), 'openapi-')) {
  const dir = await mkdtemp(prefix)
  t.after(() => rm(dir, { recursive: true, force: true }))
  return dir
}

// start runs a program until the test is over, and waits until its output
// matches ready. It returns the match and a function that gives all output so
// far.
export async function start(t, name, args, ready, options = {}) {
  const [file, ...first] = program(name)
  const child = spawn(file, [...first, ...args], { cwd: here, stdio: ['ignore', 'pipe', 'pipe'], ...options })
  const ended = new Promise((resolve) => child.on('close', resolve))
  t.after(async () => {
    child.kill()
    await ended
  })
  let text = ''
  const output = () => stripVTControlCharacters(text)
  const match = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name} is not ready after five minutes:\n${output()}`)), 300_000)
    const look = (chunk) => {
      text += chunk
      const m = output().match(ready)
      if (m) {
        clearTimeout(timer)
        resolve(m)
      }
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.on('error', reject)
    ended.then((code) => reject(new Error(`${name} ended with ${code}:\n${output()}`)))
  })
  return { match, output, running: () => child.exitCode === null && child.signalCode === null }
}

// build builds one of the project's programs.
export async function build(dir, name) {
  const file = join(dir, name)
  const { code, output } = await run('go', ['build', '-o', file, `./cmd/${name}`], { cwd: root })
  if (code !== 0) throw new Error(output)
  return file
}

// startServer runs the reference server with an empty store.
export async function startServer(t, ...args) {
  const dir = await folder(t)
  // The key and the URL come through different pipes, in any order.
  const ready = /^(?=[^]*(petstore_[a-z2-7]{56}))[^]*msg=serving url=(\S+)\s/
  const [, key, url] = (await start(t, await build(dir, 'refserver'), ['-addr=127.0.0.1:0', ...args], ready, { cwd: dir })).match
  return { url, key }
}

// startPrism runs Prism as a mock.
export async function startPrism(t) {
  const prism = await start(t, 'prism', ['mock', document, '--port=0'], /Prism is listening on (\S+)\s/)
  return { ...prism, url: prism.match[1] }
}
