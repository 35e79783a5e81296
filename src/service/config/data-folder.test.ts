// The secret in the data folder: made once, for its owner only.

import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { SystemIds } from '../../runtime/ids.ts'
import { heldSecret, storedSecret } from './data-folder.ts'

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'carillon-data-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return join(made, 'inner')
}

it('makes a secret once, for its owner only, and finds it again', () => {
  const place = folder()
  const first = heldSecret(place, new SystemIds())
  expect(first.isNew).toBe(true)
  expect(first.secret).toMatch(/^[0-9a-f]{64}$/)
  expect(readFileSync(first.path, 'utf8').trim()).toBe(first.secret)
  const second = heldSecret(place, new SystemIds())
  expect(second).toEqual({ ...first, isNew: false })
  expect(storedSecret(place)).toBe(first.secret)
})

it.skipIf(process.platform === 'win32')('gives it mode 0600, and refuses a looser one', () => {
  const place = folder()
  const { path } = heldSecret(place, new SystemIds())
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(place).mode & 0o777).toBe(0o700)
  chmodSync(path, 0o644)
  expect(() => heldSecret(place, new SystemIds())).toThrow('can be read by others')
})

it('refuses a secret that is too short, without repeating it', () => {
  const place = folder()
  const { path } = heldSecret(place, new SystemIds())
  writeFileSync(path, 'hunter2\n')
  expect(() => heldSecret(place, new SystemIds())).toThrow(/is not valid$/)
})

it('has none where none was made', () => {
  expect(storedSecret(folder())).toBeNull()
})
