import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { format } from 'node:util'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { programsOf, unmarked, write } from './blocks.ts'
import { allPages, root } from './pages.ts'

const pages = allPages()
const programs = pages.flatMap(programsOf)
const written = write(programs)
const home = process.cwd()
const scratch = mkdtempSync(join(tmpdir(), 'carillon-docs-'))

afterAll(() => {
  process.chdir(home)
  written.remove()
  rmSync(scratch, { recursive: true, force: true })
})

test('every block of code says what is done with it', () => {
  expect(pages.flatMap(unmarked)).toEqual([])
})

test('every program of the documentation type-checks', () => {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const args = [compiler, '-p', join(written.folder, 'tsconfig.json'), '--noEmit']
  const { stdout } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' })
  // Faults of src are for the suite `types` to tell.
  const faults = stdout.split('\n').filter(line => /^(?!src\b).*\berror TS/.test(line))
  expect(faults).toEqual([])
})

describe('a program of the documentation does what its page says', () => {
  const run = programs.map((program, i) => ({ ...program, file: written.files[i]! }))
  test.each(run.filter(({ isRun }) => isRun))('$name', async ({ file, output }) => {
    const printed: string[] = []
    const keep = (...values: unknown[]) => printed.push(format(...values).trimEnd())
    const spies = [vi.spyOn(console, 'log'), vi.spyOn(console, 'info')]
    for (const spy of spies) spy.mockImplementation(keep)
    // Programs use the default store: each gets a folder of its own.
    process.chdir(mkdtempSync(join(scratch, 'run-')))
    try {
      await import(file)
    } finally {
      for (const spy of spies) spy.mockRestore()
    }
    // A page that shows no output promises only that the program ends well.
    expect(output === null ? null : `${printed.join('\n')}\n`).toBe(output)
  })
})
