// `carillon store copy` as people and scripts use it.

import { mkdtemp, rm } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Command } from 'commander'
import { addStore } from '../../src/cli/commands/store.ts'
import { storeName } from '../../src/cli/store-name.ts'
import type { Terminal } from '../../src/cli/terminal.ts'
import { copyStore } from '../../src/copy/copy.ts'
import { NODE_KIND } from '../../src/core/record.ts'
import { SqliteStore } from '../../src/store/sql/sqlite/store.ts'
import { T0 } from '../support/builders.ts'
import { dumpOf, fillRich } from '../support/rich.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-copy-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function withStore<T>(name: string, work: (store: SqliteStore) => Promise<T>): Promise<T> {
  const store = new SqliteStore({ path: join(folder, name), clock: () => T0 })
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

const url = (name: string) => `sqlite:${join(folder, name)}`

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function run(words: readonly string[], given: Partial<Terminal> = {}): Promise<Ran> {
  const ran = { code: null as number | null, out: '', err: '' }
  const terminal: Terminal = {
    out: text => (ran.out += text),
    err: text => (ran.err += text),
    isTerminal: false,
    confirm: null,
    ...given,
  }
  const program = new Command('carillon')
  addStore(
    program,
    () => terminal,
    code => (ran.code = code),
  )
  const [store] = program.commands
  for (const command of [program, store!, ...store!.commands]) {
    command.exitOverride()
    command.configureOutput({ writeOut: terminal.out, writeErr: terminal.err })
  }
  await program.parseAsync(['store', 'copy', ...words], { from: 'user' })
  return ran
}

describe('store copy', () => {
  it('copies, tells how far it is on the side, and ends with a table', async () => {
    await withStore('a.db', fillRich)
    const ran = await run([url('a.db'), url('b.db'), '--yes', '--batch', '5'])
    expect(ran.code).toBe(0)
    expect(ran.out).toContain(`copied ${storeName(url('a.db'))} into ${storeName(url('b.db'))}`)
    expect(ran.out).toMatch(/\n {2}job +16 {2}[0-9a-f]{16}\n/)
    expect(ran.out).toContain('due again in the copy: 1.')
    expect(ran.err).toMatch(
      /^counting .*\ncopying \d+% (.*\n)*checking the copy 100% 47\/47 entries/m,
    )
    expect(ran.err).not.toContain('\r')
    const told = await withStore('b.db', dumpOf)
    expect(told.filter(({ type }) => type === 'job')).toHaveLength(16)
  })

  it('draws a bar on a terminal', async () => {
    await withStore('a.db', fillRich)
    const ran = await run([url('a.db'), url('b.db'), '-y'], { isTerminal: true })
    expect(ran.code).toBe(0)
    expect(ran.err).toMatch(/copying \[#{24}\] 100% 47\/47 entries, record 5\/5\n/)
  })

  it('prints JSON for scripts, also of what went wrong', async () => {
    await withStore('a.db', fillRich)
    const words = [url('a.db'), url('b.db'), '--yes', '--json']
    const report = JSON.parse((await run(words)).out) as Awaited<ReturnType<typeof copyStore>>
    expect(report).toMatchObject({ abandoned: 1, sums: { job: { count: 16 } } })
    const again = await run(words)
    expect(again).toMatchObject({ code: 5, out: '' })
    const last = again.err.trim().split('\n').at(-1)!
    expect(JSON.parse(last)).toMatchObject({ error: { code: 'STORE_NOT_EMPTY' } })
  })

  it('asks first, and copies nothing without a yes', async () => {
    await withStore('a.db', fillRich)
    const asked: string[] = []
    const answer = (isYes: boolean) => async (question: string) => {
      asked.push(question)
      return isYes
    }
    const words = [url('a.db'), url('b.db')]
    expect(await run(words, { confirm: answer(false) })).toMatchObject({ code: 1, out: '' })
    expect(await run(words)).toMatchObject({ code: 2, out: '' })
    expect(existsSync(join(folder, 'b.db'))).toBe(false)
    expect(await run(words, { confirm: answer(true) })).toMatchObject({ code: 0 })
    expect(asked).toHaveLength(2)
  })

  it('is interrupted, and goes on when it is started again', async () => {
    await withStore('a.db', fillRich)
    const stop = new AbortController()
    stop.abort()
    const words = [url('a.db'), url('b.db'), '--yes']
    const ran = await run(words, { signal: stop.signal })
    expect(ran).toMatchObject({ code: 130, out: '' })
    expect(ran.err).toContain('the same command goes on with it')
    expect(await run(words)).toMatchObject({ code: 0 })
  })

  it('says which nodes are at work, and what to do', async () => {
    await withStore('a.db', async store => {
      await fillRich(store)
      const record = { kind: NODE_KIND, key: 'web-1', value: {}, expectedVersion: null }
      await store.putRecords([{ ...record, expireAt: Date.UTC(9999, 0, 1) }], T0)
    })
    const words = [url('a.db'), url('b.db'), '--yes']
    const ran = await run(words)
    expect(ran.code).toBe(5)
    expect(ran.err).toMatch(/is in use: node "web-1" .*stop the nodes .*\(STORE_IN_USE\)\n$/)
    expect(await run([...words, '--force'])).toMatchObject({ code: 0 })
  })

  it.each([
    ['memory:', 'sqlite:x.db', 'memory: ends with its process'],
    ['sqlite:there/../a.db', 'sqlite:a.db', 'a store cannot be copied into itself'],
    ['sqlite:missing.db', 'sqlite:x.db', 'missing.db does not exist'],
    ['nothing', 'sqlite:x.db', 'must be postgres://'],
  ])('refuses %s into %s', async (from, to, why) => {
    const ran = await run([from, to, '--yes'])
    expect(ran).toMatchObject({ code: 2, out: '' })
    expect(ran.err).toContain(why)
    expect(existsSync('x.db') || existsSync('missing.db')).toBe(false)
  })

  it('refuses a batch that is none', async () => {
    const running = run([url('a.db'), url('b.db'), '--batch', '0'])
    await expect(running).rejects.toThrow('must be a whole number from 1 to 10000')
  })
})

describe('what a store is called', () => {
  it.each([
    [
      'postgres://me:s3cret@db:5432/jobs?schema=x&password=s3cret',
      'postgres://db:5432/jobs?schema=x',
    ],
    ['redis://:s3cret@cache:6379/2?namespace=jobs', 'redis://cache:6379/2?namespace=jobs'],
    ['postgres://me:s3cret@[broken', 'postgres'],
  ])('holds no password: %s', (given, name) => {
    expect(storeName(given)).toBe(name)
  })
})
