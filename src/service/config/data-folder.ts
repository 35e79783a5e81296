// The data folder and the secret in it: made on first use, readable by its owner only.

import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { SchedulerError } from '../../core/errors.ts'
import type { Ids } from '../../runtime/ids.ts'
import { secretProblems } from '../auth/secret.ts'

const SECRET_FILE = 'jwt-secret'
const OWNER_ONLY = 0o600
const OTHERS = 0o077

export interface HeldSecret {
  readonly secret: string
  readonly path: string
  /** It was made just now: nobody has a token yet. */
  readonly isNew: boolean
}

export function openDataFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}

/** The secret of this folder; two processes that start at once agree on one. */
export function heldSecret(folder: string, ids: Ids): HeldSecret {
  openDataFolder(folder)
  const path = join(folder, SECRET_FILE)
  const made = `${ids.token()}${ids.token()}`.replaceAll('-', '')
  try {
    writeFileSync(path, `${made}\n`, { flag: 'wx', mode: OWNER_ONLY })
    return { secret: made, path, isNew: true }
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
  }
  return { secret: readSecret(path), path, isNew: false }
}

/** Null when there is none. A file that others can read is no secret and is refused. */
export function storedSecret(folder: string): string | null {
  try {
    return readSecret(join(folder, SECRET_FILE))
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return null
    throw error
  }
}

function readSecret(path: string): string {
  const { mode } = statSync(path)
  const isOpen = process.platform !== 'win32' && (mode & OTHERS) !== 0
  if (isOpen) {
    const rule = 'can be read by others: give it mode 0600, and make a new secret if they did'
    throw new SchedulerError('SETTINGS_INVALID', `${path} ${rule}`, {
      problems: [{ field: path, value: '***', rule }],
    })
  }
  const secret = readFileSync(path, 'utf8').trim()
  const problems = secretProblems(secret, path)
  if (problems.length === 0) return secret
  throw new SchedulerError('SETTINGS_INVALID', `the secret in ${path} is not valid`, { problems })
}
