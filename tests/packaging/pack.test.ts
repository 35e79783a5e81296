// The package as its users get it: what is in the tarball, and that its entries load and type-check.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

describe.runIf(found.length > 0)('the published package', () => {
  let packed: Packed

  beforeAll(() => {
    packed = packAndInstall()
  })

  afterAll(() => packed?.remove())

  it('holds the build, its papers and nothing else', () => {
    const papers = /^(?:dist\/.+|README\.md|LICENSE|CHANGELOG\.md|package\.json)$/
    expect(packed.files.filter(path => !papers.test(path))).toEqual([])
    expect(packed.files.filter(path => /\.test\.|tsbuildinfo/.test(path))).toEqual([])
    expect(packed.files).toContain('LICENSE')
  })

  it('holds every file its exports map points to', () => {
    const targets = found.flatMap(entry => entry.targets.map(target => target.slice(2)))
    expect(targets.filter(target => !packed.files.includes(target))).toEqual([])
  })

  it.each(found)('$specifier loads in a plain Node process', ({ specifier }) => {
    const script = `console.log(Object.keys(await import('${specifier}')).length)`
    const args = ['--input-type=module', '--eval', script]
    const output = execFileSync(process.execPath, args, { cwd: packed.project, encoding: 'utf8' })
    expect(Number(output)).toBeGreaterThan(0)
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
