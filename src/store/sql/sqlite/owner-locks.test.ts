// A process that is gone is told from one that lives by a lock the system keeps.

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { T0 } from '../../../../tests/support/builders.ts'
import { OwnerLocks } from './owner-locks.ts'
import { SqliteStore } from './store.ts'

const now = () => 0

function databasePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-locks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'jobs.db')
}

it('an owner is gone only once nobody holds its lock', () => {
  const path = databasePath()
  const [mine, other] = [new OwnerLocks(path, now), new OwnerLocks(path, now)]
  expect(other.isGone('a')).toBe(false)
  mine.lock('a')
  expect(mine.isGone('a')).toBe(false)
  expect(other.isGone('a')).toBe(false)
  mine.release('a')
  // It left in good order: nothing of it is there to be taken over.
  expect(other.isGone('a')).toBe(false)
})

it('the lock of a killed process is free at once', async () => {
  const path = databasePath()
  const source = `
    import { OwnerLocks } from ${JSON.stringify(join(import.meta.dirname, 'owner-locks.ts'))}
    const locks = new OwnerLocks(${JSON.stringify(path)}, () => 0)
    locks.lock('dead')
    console.log('locked')
    setInterval(() => locks, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise(resolve => child.stdout.once('data', resolve))
  const locks = new OwnerLocks(path, now)
  expect(locks.isGone('dead')).toBe(false)
  const ended = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGKILL')
  await ended
  expect(locks.isGone('dead')).toBe(true)
})

it('jobs of a killed process are overdue before their leases end', async () => {
  const path = databasePath()
  const modules = {
    store: join(import.meta.dirname, 'store.ts'),
    builders: join(import.meta.dirname, '../../../../tests/support/builders.ts'),
  }
  const source = `
    import { SqliteStore } from ${JSON.stringify(modules.store)}
    import { claimRequest, job, T0 } from ${JSON.stringify(modules.builders)}
    const store = new SqliteStore({ path: ${JSON.stringify(path)}, clock: () => T0 })
    await store.open()
    await store.insert([job('a')], { now: T0 })
    await store.claim(claimRequest({ now: T0, owner: 'n~00c0ffee' }))
    console.log('claimed')
    // What nobody refers to is collected, and its lock with it.
    setInterval(() => store, 1000)`
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise(resolve => child.stdout.once('data', resolve))
  const store = new SqliteStore({ path, clock: () => T0 })
  await store.open()
  onTestFinished(() => store.close())
  expect(await store.overdue({ now: T0, limit: 9 })).toEqual([])
  const ended = new Promise(resolve => child.once('close', resolve))
  child.kill('SIGKILL')
  await ended
  const overdue = await store.overdue({ now: T0, limit: 9 })
  expect(overdue.map(({ id }) => id)).toEqual(['a'])
})
