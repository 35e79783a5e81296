// Spreads seeds over as many processes as there are cores.

import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { sumUp, type Summary } from './seeds.ts'

/** Large enough that starting a process does not matter. */
const CHUNK = 250

export async function runSpread(first: number, count: number): Promise<Summary> {
  const chunks: [number, number][] = []
  for (let at = first; at < first + count; at += CHUNK) {
    chunks.push([at, Math.min(at + CHUNK, first + count) - 1])
  }
  const parts: Summary[] = []
  const line = async () => {
    for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) {
      parts.push(await runChunk(chunk))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, line))
  return sumUp(parts)
}

function runChunk([from, to]: [number, number]): Promise<Summary> {
  const file = fileURLToPath(new URL('seeds-child.ts', import.meta.url))
  return new Promise((resolve, reject) => {
    const args = ['--import', 'tsx', file, String(from), String(to)]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout.on('data', (bytes: Buffer) => out.push(bytes))
    child.stderr.on('data', (bytes: Buffer) => err.push(bytes))
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(out).toString()) as Summary)
      else reject(new Error(`seeds ${from} to ${to}: ${Buffer.concat(err).toString()}`))
    })
  })
}
