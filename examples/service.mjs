// For the examples that talk to the service: starts `carillon serve` in a folder of its own, makes a
// token, and gives a function that asks it.

import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const carillon = fileURLToPath(
  new URL('../packages/carillon-service/dist/cli/main.js', import.meta.url),
)

/** `args` are flags of `carillon serve`, such as `--config <file>`. */
export async function startCarillon(args = []) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-example-'))
  const flags = ['serve', '--port', '0', '--log-level', 'silent', ...args]
  const child = spawn(process.execPath, [carillon, ...flags], { cwd: folder })
  const ended = new Promise(resolve => child.once('exit', resolve))
  // An example that fails leaves nothing behind.
  process.once('exit', () => child.kill('SIGKILL'))
  const address = await printedAddress(child)
  const token = execFileSync(process.execPath, [carillon, 'token', '--role', 'admin'], {
    cwd: folder,
    encoding: 'utf8',
  }).trim()
  return {
    address,
    ask: (method, path, body) => ask(`${address}${path}`, { method, token, body }),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function printedAddress(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = chunk => {
      text += chunk
      const found = /Carillon is at (http:\S+)[\s\S]*sign in/.exec(text)
      if (found) resolve(found[1])
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', code => reject(new Error(`carillon ended with ${code}: ${text}`)))
  })
}

async function ask(url, { method, token, body }) {
  const answer = await fetch(url, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const read = text === '' ? null : JSON.parse(text)
  if (!answer.ok) throw new Error(`${answer.status}: ${read?.detail ?? text}`)
  return read
}

/** Looks until what it sees is what it waits for. */
export async function until(look, isThere, withinMs = 20_000) {
  for (const end = Date.now() + withinMs; Date.now() < end; await sleep(100)) {
    const seen = await look()
    if (isThere(seen)) return seen
  }
  throw new Error(`not within ${withinMs} ms`)
}
