// The package as its users get it: what is in the tarball, and that its entries load and type-check.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loads } from './loads.ts'
import { entries, packAndInstall, root } from './package.ts'
import type { Packed } from './package.ts'

const found = entries()

const strictOptions = {
  target: 'ES2023',
  module: 'NodeNext',
  strict: true,
  noEmit: true,
  types: ['node'],
}

/** Files of ours that a start may read: time goes with their number. */
const FILES_MAX = { version: 5, next: 9, list: 20, add: 23, serve: 34 }

describe.runIf(found.length > 0)('the published package', () => {
  let packed: Packed

  beforeAll(() => {
    packed = packAndInstall()
  })

  afterAll(() => packed?.remove())

  /** What a module in the project writes. */
  const said = (script: string): string => {
    const args = ['--input-type=module', '--eval', script]
    return execFileSync(process.execPath, args, { cwd: packed.project, encoding: 'utf8' })
  }

  it('holds the build, its papers and nothing else', () => {
    const papers = /^(?:dist\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/
    expect(packed.files.filter(path => !papers.test(path))).toEqual([])
    expect(packed.files.filter(path => /\.test\.|tsbuildinfo/.test(path))).toEqual([])
    expect(packed.files).toContain('LICENSE')
  })

  it.each([
    ['dist', 'commander'],
    ['dist', 'zod'],
    ['dist/dashboard', 'preact'],
    ['dist/dashboard', 'uplot'],
  ])('names in %s whose work is inside: %s', (folder, name) => {
    const notices = join(packed.project, 'node_modules/carillon', folder, 'THIRD-PARTY.txt')
    expect(readFileSync(notices, 'utf8')).toMatch(new RegExp(`^${name} \\d[^]+?Permission`, 'm'))
  })

  it('holds every file its exports map points to', () => {
    const targets = found.flatMap(entry => entry.targets.map(target => target.slice(2)))
    expect(targets.filter(target => !packed.files.includes(target))).toEqual([])
  })

  it.each(found)('$specifier loads in a plain Node process, whole', async entry => {
    const output = said(`console.log(Object.keys(await import('${entry.specifier}')).join())`)
    const target = entry.targets.find(path => path.endsWith('.js'))!
    const source = target.replace('./dist/', 'src/').replace(/js$/, 'ts')
    const written = (await import(join(root, source))) as object
    expect(output.trim().split(',').toSorted()).toEqual(Object.keys(written).toSorted())
  })

  it.each([
    ['postgres://u@127.0.0.1:1/d', 'the PostgreSQL store needs the package pg: npm install pg'],
    ['redis://127.0.0.1:1', 'the Redis store needs the package @redis/client: npm install'],
  ])('says which package a store at %s needs', (store, message) => {
    const command = join(packed.project, 'node_modules/carillon/dist/cli/main.js')
    const args = [command, 'serve', '--store', store, '--port', '0']
    const ended = spawnSync(process.execPath, args, { cwd: packed.project, encoding: 'utf8' })
    expect(ended.status).not.toBe(0)
    expect(ended.stderr).toContain(message)
  })

  it('has one copy of every class, whichever entry brings it', () => {
    const output = said(`
      import { SchedulerError } from 'carillon'
      import { createTestScheduler } from 'carillon/testing'
      const refused = await createTestScheduler({ jobs: [], slots: -1 }).catch(error => error)
      console.log(refused instanceof SchedulerError)`)
    expect(output).toBe('true\n')
  })

  it('reads few files to say its version, and no package', async () => {
    const { own, packages } = await loads(packed.project, ['--version'])
    expect(own).toBeLessThanOrEqual(FILES_MAX.version)
    expect(packages).toEqual([])
  })

  it('reads few files to explain an expression, and nothing of the service', async () => {
    const { own, packages } = await loads(packed.project, ['next', '0 3 * * *'])
    expect(own).toBeLessThanOrEqual(FILES_MAX.next)
    expect(packages).toEqual([])
  })

  it('reads few files to ask a local store, and no package', async () => {
    const place = ['--store', `sqlite:${join(packed.project, 'asked.db')}`]
    const added = ['add', 'nightly', '--cron', '0 3 * * *', '--http', 'https://example.com']
    const made = await loads(packed.project, [...added, ...place])
    expect(made.own).toBeLessThanOrEqual(FILES_MAX.add)
    expect(made.packages).toEqual([])
    const listed = await loads(packed.project, ['list', ...place])
    expect(listed.own).toBeLessThanOrEqual(FILES_MAX.list)
    expect(listed.packages).toEqual([])
  })

  it('reads few files to serve, and no package before it is of use', async () => {
    const words = ['serve', '--port', '0', '--log-level', 'silent']
    const { own, packages } = await loads(packed.project, words, /sign in/)
    expect(own).toBeLessThanOrEqual(FILES_MAX.serve)
    expect(packages).toContain('fastify')
    const late = ['undici', 'jose', 'htmlparser2', '@fastify/swagger', 'fastify-type-provider-zod']
    expect(packages.filter(name => [...late, 'yaml'].includes(name))).toEqual([])
  })

  it('brings types that a strict project accepts', () => {
    const imports = found.map(({ specifier }, n) => `export * as m${n} from '${specifier}'`)
    writeFileSync(join(packed.project, 'use.ts'), imports.join('\n'))
    const config = { compilerOptions: strictOptions, files: ['use.ts'] }
    writeFileSync(join(packed.project, 'tsconfig.json'), JSON.stringify(config))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [compiler, '-p', packed.project], {
      encoding: 'utf8',
    })
    expect(stdout).toBe('')
  })

  it('is in order by the rules of publint', async () => {
    const bytes = readFileSync(packed.tarball)
    const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
    const { messages } = await publint({ pack: { tarball }, level: 'error' })
    expect(messages).toEqual([])
  })
})
